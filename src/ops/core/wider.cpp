// SPDX-License-Identifier: Apache-2.0
#include "ops/core/wider.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace tenon::ops {

namespace {

/// Walks two forms of one op that differ in types alone.
class Comparison {
 public:
  explicit Comparison(const std::vector<bool>& low_bits) : low_bits_(low_bits) {}

  /// Of each result; empty: the forms differ in more than types.
  std::vector<Kept> run(const LoopForm& narrow, const LoopForm& wide) {
    if (narrow.loops.size() != wide.loops.size() || narrow.results.size() != wide.results.size()) return {};
    for (size_t k = 0; k < narrow.loops.size(); ++k)
      if (!compare(narrow.loops[k], wide.loops[k])) return {};
    std::vector<Kept> out;
    for (const Source& s : narrow.results) out.push_back(of(s));
    return out;
  }

 private:
  bool compare(const Loop& a, const Loop& b) {
    if (a.axes.size() != b.axes.size() || a.accesses.size() != b.accesses.size() || a.outputs.size() != b.outputs.size()) return false;
    seen_.clear();
    accesses_.clear();
    for (size_t k = 0; k < a.accesses.size(); ++k) accesses_.push_back(kept(a.accesses[k], b.accesses[k]));
    std::vector<Kept> outputs;
    for (size_t k = 0; k < a.outputs.size(); ++k) outputs.push_back(kept(a, a.outputs[k], b.outputs[k]));
    for (size_t k = 0; k < a.outputs.size(); ++k) {
      // Who reads what is written in parts may read any of them.
      if (a.outputs[k].partial) outputs[k] = worst_part_ = std::min(worst_part_, outputs[k]);
    }
    loops_.push_back(std::move(outputs));
    return true;
  }

  Kept of(const Source& s) const {
    if (s.kind == Source::Kind::operand)
      return static_cast<size_t>(s.index) < low_bits_.size() && low_bits_[static_cast<size_t>(s.index)] ? Kept::low_bits : Kept::value;
    return loops_[static_cast<size_t>(s.index)][static_cast<size_t>(s.output)];
  }

  bool same_values(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    return std::ranges::equal(a, b, [&](const Expr& x, const Expr& y) { return kept(x, y) == Kept::value; });
  }

  Kept kept(const Access& a, const Access& b) {
    if (!same_values(a.index, b.index) || kept(a.within, b.within) != Kept::value) return Kept::nothing;
    return std::min(of(a.source), kept(a.fill, b.fill));
  }

  Kept kept(const Loop& loop, const Output& a, const Output& b) {
    if (!same_values(a.index, b.index) || kept(a.within, b.within) != Kept::value || a.combine != b.combine) return Kept::nothing;
    const Kept value = kept(a.value, b.value);
    if (a.combine == Combine::none || (value == Kept::value && a.dtype == b.dtype)) return value;
    if (a.combine == Combine::sum || a.combine == Combine::product) return std::min(value, Kept::low_bits);
    // The largest of nothing is a bound of the type.
    const bool is_never_empty =
        std::ranges::all_of(loop.axes, [](const Axis& x) { return x.kind == Axis::Kind::parallel || x.extent.lower() > 0; });
    return value == Kept::value && is_never_empty ? value : Kept::nothing;
  }

  /// Of null: nothing is asked.
  Kept kept(const Expr& a, const Expr& b) {
    if (!a || !b) return !a && !b ? Kept::value : Kept::nothing;
    const auto [at, is_new] = seen_.try_emplace({a.get(), b.get()}, Kept::nothing);
    if (is_new) at->second = kept_anew(a, b);
    return seen_.at({a.get(), b.get()});
  }

  Kept kept_anew(const Expr& a, const Expr& b) {
    if (a->op != b->op || a->args.size() != b->args.size()) return Kept::nothing;
    const bool differs = a->dtype != b->dtype;
    if (differs && (!is_integer(a->dtype) || !is_integer(b->dtype))) return Kept::nothing;
    std::vector<Kept> args;
    for (size_t k = 0; k < a->args.size(); ++k) args.push_back(kept(a->args[k], b->args[k]));
    if (a->args.empty()) return of_leaf(*a, *b);
    const Kept worst = *std::ranges::min_element(args);
    if (!differs) return worst == Kept::value ? worst : Kept::nothing;
    return of_wrapping(*a, args, worst);
  }

  Kept of_leaf(const ExprNode& a, const ExprNode& b) const {
    switch (a.op) {
      case ExprOp::constant: return a.number == b.number && a.integer == b.integer ? Kept::value : Kept::nothing;
      case ExprOp::input: return a.index == b.index ? accesses_[static_cast<size_t>(a.index)] : Kept::nothing;
      case ExprOp::axis: return a.index == b.index ? Kept::value : Kept::nothing;
      default: return a.size == b.size ? Kept::value : Kept::nothing;
    }
  }

  /// Integers that wrap around in one form where the other has room.
  static Kept of_wrapping(const ExprNode& a, const std::vector<Kept>& args, Kept worst) {
    switch (a.op) {
      case ExprOp::neg:
      case ExprOp::add:
      case ExprOp::sub:
      case ExprOp::mul:
      case ExprOp::bit_and:
      case ExprOp::bit_or:
      case ExprOp::bit_xor:
      case ExprOp::bit_not: return std::min(worst, Kept::low_bits);
      case ExprOp::shift_left: return args[1] == Kept::value ? std::min(worst, Kept::low_bits) : Kept::nothing;
      case ExprOp::abs:
      case ExprOp::div: return worst == Kept::value ? Kept::low_bits : Kept::nothing;  // of the smallest number, and it by -1
      case ExprOp::mod:
      case ExprOp::rem:
      case ExprOp::min:
      case ExprOp::max:
      case ExprOp::sign:
      case ExprOp::shift_right:
      case ExprOp::floor:
      case ExprOp::ceil:
      case ExprOp::round_even:
      case ExprOp::trunc: return worst == Kept::value ? worst : Kept::nothing;
      case ExprOp::select: return args[0] == Kept::value ? std::min(args[1], args[2]) : Kept::nothing;
      case ExprOp::cast: return of_cast(a.args[0].dtype(), a.dtype, worst);
      default: return Kept::nothing;
    }
  }

  /// Floats that do not fit become the nearest number that does: another one in each type.
  static Kept of_cast(DType from, DType to, Kept value) {
    if (from != DType::boolean && !is_integer(from)) return Kept::nothing;
    if (value == Kept::value) return keeps_all(from, to) ? value : Kept::low_bits;
    return bits_of(from) >= bits_of(to) ? value : Kept::nothing;
  }

  const std::vector<bool>& low_bits_;
  std::vector<std::vector<Kept>> loops_;  ///< of their outputs
  Kept worst_part_ = Kept::value;
  std::vector<Kept> accesses_;  ///< of the loop that is looked at
  std::map<std::pair<const ExprNode*, const ExprNode*>, Kept> seen_;
};

bool integers_differ(const NodeView& a, const NodeView& b) {
  for (size_t k = 0; k < a.inputs.size(); ++k)
    if (a.has(k) && is_integer(a.type(k).dtype) && a.type(k).dtype != b.type(k).dtype) return true;
  return false;
}

}  // namespace

bool values_decide(const NodeView& view) {
  const OpDef& def = def_of(*view.op);
  return !view.op->unknown && !def.reads_bits && def.deterministic && !def.effects && view.bodies.empty();
}

std::vector<Kept> kept_in_wider(const NodeView& narrow, const NodeView& wide, const std::vector<bool>& low_bits) {
  const OpDef& def = def_of(*narrow.op);
  const size_t results = narrow.outputs.size();
  std::vector<Kept> nothing(results, Kept::nothing);
  if (!values_decide(narrow)) return nothing;
  const bool all_whole = std::ranges::none_of(low_bits, std::identity());
  if (all_whole && (def.keeps_elements || !integers_differ(narrow, wide))) return std::vector<Kept>(results, Kept::value);
  if (!def.form) return nothing;
  const auto a = def.form(narrow), b = def.form(wide);
  if (!a || !b) return nothing;
  std::vector<Kept> kept = Comparison(low_bits).run(*a, *b);
  return kept.size() == results ? kept : nothing;
}

bool same_in_wider(const NodeView& narrow, const NodeView& wide) {
  const std::vector<Kept> kept = kept_in_wider(narrow, wide);
  for (size_t k = 0; k < kept.size(); ++k)
    if (kept[k] < (narrow.outputs[k].dtype == wide.outputs[k].dtype ? Kept::value : Kept::low_bits)) return false;
  return true;
}

}  // namespace tenon::ops
