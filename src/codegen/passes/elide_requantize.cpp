// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/elide_requantize.h"

#include <cmath>
#include <unordered_map>

namespace tenon::codegen {

namespace {

constexpr double kMostOfAByte = 255;

bool is_number(const Expr& e) { return e.op() == ExprOp::constant && e.dtype() == DType::f32; }

/// Whether the value is always a whole number, an infinity or NaN.
bool is_whole(const Expr& e) {
  switch (e.op()) {
    case ExprOp::round_even:
    case ExprOp::floor:
    case ExprOp::ceil:
    case ExprOp::trunc: return true;
    case ExprOp::constant: return e->number == std::trunc(e->number);
    default: return false;
  }
}

/// The value clamped to 0..255, minus `zero`; the lower bound where it is NaN, as a cast to u8 does.
Expr clamped(const Expr& e, double zero) {
  const Expr low = Expr::constant(DType::f32, 0 - zero), high = Expr::constant(DType::f32, kMostOfAByte - zero);
  const Expr above = select(low < e, e, low);
  return select(above < high, above, high);
}

/// A whole number and a whole constant that is added to it.
struct Moved {
  Expr number;
  double by = 0;
};
std::optional<Moved> moved_by(const Expr& e) {
  if (is_whole(e)) return Moved{e, 0};
  const bool adds = e.op() == ExprOp::add && is_whole(e.args()[0]) && is_number(e.args()[1]) && is_whole(e.args()[1]);
  return adds ? std::optional(Moved{e.args()[0], e.args()[1]->number}) : std::nullopt;
}

class Rewriting {
 public:
  Expr operator()(const Expr& e) {
    if (!e || e.args().empty()) return e;
    if (const auto known = done_.find(e.get()); known != done_.end()) return known->second.second;
    std::vector<Expr> args;
    for (const Expr& a : e.args()) args.push_back((*this)(a));
    Expr out = Expr::make(e.op(), e.dtype(), std::move(args));
    if (const Expr shorter = shortened(out)) out = shorter;
    done_.emplace(e.get(), std::pair(e, out));
    return out;
  }

 private:
  /// Where `e` is a cast to u8 and back to f32: the value before, and the constant that was added to it; nullopt: `e` is something else.
  static std::optional<Moved> byte_of(const Expr& e) {
    const bool back =
        e.op() == ExprOp::cast && e.dtype() == DType::f32 && e.args()[0].op() == ExprOp::cast && e.args()[0].dtype() == DType::u8;
    if (!back || e.args()[0].args()[0].dtype() != DType::f32) return std::nullopt;
    return moved_by(e.args()[0].args()[0]);
  }

  /// The simplified expression, whose parts are simplified already; null: unchanged.
  Expr shortened(const Expr& e) {
    if (e.op() == ExprOp::cast && is_integer(e.dtype()) && e.args()[0].dtype() == DType::f32 && e.args()[0].op() == ExprOp::add) {
      const Expr& sum = e.args()[0];  // a zero's sign is none of an integer
      if (is_number(sum.args()[1]) && sum.args()[1]->number == 0) return cast(sum.args()[0], e.dtype());
    }
    if (e.op() == ExprOp::sub && is_number(e.args()[1]))
      if (const auto byte = bytes_.find(e.args()[0].get()); byte != bytes_.end() && byte->second.by == e.args()[1]->number)
        return clamped(byte->second.number, byte->second.by);
    const auto byte = byte_of(e);
    if (!byte) return {};
    const Expr out = byte->by == 0 ? clamped(byte->number, 0) : clamped(byte->number, byte->by) + Expr::constant(DType::f32, byte->by);
    bytes_.emplace(out.get(), *byte);
    kept_.push_back(out);
    return out;
  }

  std::unordered_map<const ExprNode*, std::pair<Expr, Expr>> done_;  ///< keeps the keys alive, so that they are unique
  std::unordered_map<const ExprNode*, Moved> bytes_;
  std::vector<Expr> kept_;
};

}  // namespace

Expr without_requantize(const Expr& e) { return Rewriting()(e); }

void elide_requantize(Plan& plan) {
  for (Group& g : plan.groups) {
    for (Nest& n : g.nests)
      for (NestOutput& o : n.outputs)
        if (o.combine == ops::Combine::none) o.value = without_requantize(o.value);
    if (g.epilogue)
      for (NestOutput& o : g.epilogue->map.outputs) o.value = without_requantize(o.value);
  }
}

}  // namespace tenon::codegen
