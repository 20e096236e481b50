// SPDX-License-Identifier: Apache-2.0
#include "codegen/passes/elide_requantize.h"

#include <cmath>
#include <unordered_map>

namespace tenon::codegen {

namespace {

constexpr double kMaxByte = 255;

bool is_f32_constant(const Expr& e) { return e.op() == ExprOp::constant && e.dtype() == DType::f32; }

/// Whether the value is always a whole number, an infinity or NaN.
bool is_whole(const Expr& e) {
  switch (e.op()) {
    case ExprOp::round_even:
    case ExprOp::floor:
    case ExprOp::ceil:
    case ExprOp::trunc: return true;
    case ExprOp::constant: return e->float_value == std::trunc(e->float_value);
    default: return false;
  }
}

/// clamp(e + zero_point, 0, 255) - zero_point, as a clamp of `e`; the lower bound where `e` is NaN, as a cast to u8 gives.
Expr clamped(const Expr& e, double zero_point) {
  const Expr low = Expr::constant(DType::f32, 0 - zero_point), high = Expr::constant(DType::f32, kMaxByte - zero_point);
  const Expr above = select(low < e, e, low);
  return select(above < high, above, high);
}

/// A whole number, and the whole constant that is added to it.
struct WithZeroPoint {
  Expr number;
  double zero_point = 0;
};
std::optional<WithZeroPoint> with_zero_point(const Expr& e) {
  if (is_whole(e)) return WithZeroPoint{e, 0};
  const bool adds = e.op() == ExprOp::add && is_whole(e.args()[0]) && is_f32_constant(e.args()[1]) && is_whole(e.args()[1]);
  return adds ? std::optional(WithZeroPoint{e.args()[0], e.args()[1]->float_value}) : std::nullopt;
}

/// Rewrites one expression and all of its parts.
class RequantizeElision {
 public:
  Expr operator()(const Expr& e) {
    if (!e || e.args().empty()) return e;
    if (const auto known = done_.find(e.get()); known != done_.end()) return known->second.second;
    std::vector<Expr> args;
    for (const Expr& a : e.args()) args.push_back((*this)(a));
    Expr out = Expr::make(e.op(), e.dtype(), std::move(args));
    if (const Expr rewritten = elided(out)) out = rewritten;
    done_.emplace(e.get(), std::pair(e, out));
    return out;
  }

 private:
  /// Where `e` is a cast to u8 and back to f32: the value before, and the constant that was added to it; nullopt: `e` is something else.
  static std::optional<WithZeroPoint> byte_of(const Expr& e) {
    const bool is_cast_back =
        e.op() == ExprOp::cast && e.dtype() == DType::f32 && e.args()[0].op() == ExprOp::cast && e.args()[0].dtype() == DType::u8;
    if (!is_cast_back || e.args()[0].args()[0].dtype() != DType::f32) return std::nullopt;
    return with_zero_point(e.args()[0].args()[0]);
  }

  /// The simplified expression, whose parts are simplified already; null: unchanged.
  Expr elided(const Expr& e) {
    if (e.op() == ExprOp::cast && is_integer(e.dtype()) && e.args()[0].dtype() == DType::f32 && e.args()[0].op() == ExprOp::add) {
      const Expr& sum = e.args()[0];  // adding 0 changes only the sign of a zero, which integers lack
      if (is_f32_constant(sum.args()[1]) && sum.args()[1]->float_value == 0) return cast(sum.args()[0], e.dtype());
    }
    if (e.op() == ExprOp::sub && is_f32_constant(e.args()[1]))
      if (const auto byte = bytes_.find(e.args()[0].get()); byte != bytes_.end() && byte->second.zero_point == e.args()[1]->float_value)
        return clamped(byte->second.number, byte->second.zero_point);
    const auto byte = byte_of(e);
    if (!byte) return {};
    const Expr out = byte->zero_point == 0 ? clamped(byte->number, 0)
                                           : clamped(byte->number, byte->zero_point) + Expr::constant(DType::f32, byte->zero_point);
    bytes_.emplace(out.get(), *byte);
    owned_.push_back(out);
    return out;
  }

  std::unordered_map<const ExprNode*, std::pair<Expr, Expr>> done_;  ///< keeps the keys alive, so that they are unique
  std::unordered_map<const ExprNode*, WithZeroPoint> bytes_;         ///< by expression that is a clamp: what it clamps
  std::vector<Expr> owned_;                                          ///< keeps the keys of bytes_ alive
};

}  // namespace

Expr without_requantize(const Expr& e) { return RequantizeElision()(e); }

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
