// SPDX-License-Identifier: Apache-2.0
#include "ops/core/wider_types.h"

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

  /// How much of each result is preserved; empty: the forms differ in more than types.
  std::vector<Preserved> run(const LoopForm& narrow, const LoopForm& wide) {
    if (narrow.loops.size() != wide.loops.size() || narrow.results.size() != wide.results.size()) return {};
    for (size_t k = 0; k < narrow.loops.size(); ++k)
      if (!compare(narrow.loops[k], wide.loops[k])) return {};
    std::vector<Preserved> out;
    for (const Source& s : narrow.results) out.push_back(of(s));
    return out;
  }

 private:
  bool compare(const Loop& a, const Loop& b) {
    if (a.axes.size() != b.axes.size() || a.accesses.size() != b.accesses.size() || a.outputs.size() != b.outputs.size()) return false;
    seen_.clear();
    accesses_.clear();
    for (size_t k = 0; k < a.accesses.size(); ++k) accesses_.push_back(preserved(a.accesses[k], b.accesses[k]));
    std::vector<Preserved> outputs;
    for (size_t k = 0; k < a.outputs.size(); ++k) outputs.push_back(preserved(a, a.outputs[k], b.outputs[k]));
    for (size_t k = 0; k < a.outputs.size(); ++k) {
      // A reader of an output that several loops write in parts may read any part.
      if (a.outputs[k].partial) outputs[k] = worst_part_ = std::min(worst_part_, outputs[k]);
    }
    loops_.push_back(std::move(outputs));
    return true;
  }

  Preserved of(const Source& s) const {
    if (s.kind == Source::Kind::operand)
      return static_cast<size_t>(s.index) < low_bits_.size() && low_bits_[static_cast<size_t>(s.index)] ? Preserved::low_bits
                                                                                                        : Preserved::value;
    return loops_[static_cast<size_t>(s.index)][static_cast<size_t>(s.output)];
  }

  bool same_values(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    return std::ranges::equal(a, b, [&](const Expr& x, const Expr& y) { return preserved(x, y) == Preserved::value; });
  }

  Preserved preserved(const Access& a, const Access& b) {
    if (!same_values(a.index, b.index) || preserved(a.within, b.within) != Preserved::value) return Preserved::nothing;
    return std::min(of(a.source), preserved(a.fill, b.fill));
  }

  Preserved preserved(const Loop& loop, const Output& a, const Output& b) {
    if (!same_values(a.index, b.index) || preserved(a.within, b.within) != Preserved::value || a.combine != b.combine)
      return Preserved::nothing;
    const Preserved value = preserved(a.value, b.value);
    if (a.combine == Combine::none || (value == Preserved::value && a.dtype == b.dtype)) return value;
    if (a.combine == Combine::sum || a.combine == Combine::product) return std::min(value, Preserved::low_bits);
    // The maximum of no elements is a bound of the type.
    const bool is_never_empty =
        std::ranges::all_of(loop.axes, [](const Axis& x) { return x.kind == Axis::Kind::parallel || x.extent.lower() > 0; });
    return value == Preserved::value && is_never_empty ? value : Preserved::nothing;
  }

  /// How much of an expression's value is preserved; two null expressions: value.
  Preserved preserved(const Expr& a, const Expr& b) {
    if (!a || !b) return !a && !b ? Preserved::value : Preserved::nothing;
    const auto [at, is_new] = seen_.try_emplace({a.get(), b.get()}, Preserved::nothing);
    if (is_new) at->second = compared(a, b);
    return seen_.at({a.get(), b.get()});
  }

  Preserved compared(const Expr& a, const Expr& b) {
    if (a->op != b->op || a->args.size() != b->args.size()) return Preserved::nothing;
    const bool differs = a->dtype != b->dtype;
    if (differs && (!is_integer(a->dtype) || !is_integer(b->dtype))) return Preserved::nothing;
    std::vector<Preserved> args;
    for (size_t k = 0; k < a->args.size(); ++k) args.push_back(preserved(a->args[k], b->args[k]));
    if (a->args.empty()) return preserved_by_leaf(*a, *b);
    const Preserved worst = *std::ranges::min_element(args);
    if (!differs) return worst == Preserved::value ? worst : Preserved::nothing;
    return preserved_by_wrapping_op(*a, args, worst);
  }

  Preserved preserved_by_leaf(const ExprNode& a, const ExprNode& b) const {
    switch (a.op) {
      case ExprOp::constant: return a.float_value == b.float_value && a.int_value == b.int_value ? Preserved::value : Preserved::nothing;
      case ExprOp::input: return a.index == b.index ? accesses_[static_cast<size_t>(a.index)] : Preserved::nothing;
      case ExprOp::axis: return a.index == b.index ? Preserved::value : Preserved::nothing;
      default: return a.size == b.size ? Preserved::value : Preserved::nothing;
    }
  }

  /// The same for an integer operator that wraps around in the narrow type where the wide type does not overflow.
  static Preserved preserved_by_wrapping_op(const ExprNode& a, const std::vector<Preserved>& args, Preserved worst) {
    switch (a.op) {
      case ExprOp::neg:
      case ExprOp::add:
      case ExprOp::sub:
      case ExprOp::mul:
      case ExprOp::bit_and:
      case ExprOp::bit_or:
      case ExprOp::bit_xor:
      case ExprOp::bit_not: return std::min(worst, Preserved::low_bits);
      case ExprOp::shift_left: return args[1] == Preserved::value ? std::min(worst, Preserved::low_bits) : Preserved::nothing;
      case ExprOp::abs:
      case ExprOp::div:
        return worst == Preserved::value ? Preserved::low_bits : Preserved::nothing;  // of the smallest number, and it by -1
      case ExprOp::mod:
      case ExprOp::rem:
      case ExprOp::min:
      case ExprOp::max:
      case ExprOp::sign:
      case ExprOp::shift_right:
      case ExprOp::floor:
      case ExprOp::ceil:
      case ExprOp::round_even:
      case ExprOp::trunc: return worst == Preserved::value ? worst : Preserved::nothing;
      case ExprOp::select: return args[0] == Preserved::value ? std::min(args[1], args[2]) : Preserved::nothing;
      case ExprOp::cast: return preserved_by_cast(a.args[0].dtype(), a.dtype, worst);
      default: return Preserved::nothing;
    }
  }

  /// Floats that do not fit become the nearest number that does: another one in each type.
  static Preserved preserved_by_cast(DType from, DType to, Preserved value) {
    if (from != DType::boolean && !is_integer(from)) return Preserved::nothing;
    if (value == Preserved::value) return is_lossless_cast(from, to) ? value : Preserved::low_bits;
    return bits_of(from) >= bits_of(to) ? value : Preserved::nothing;
  }

  const std::vector<bool>& low_bits_;
  std::vector<std::vector<Preserved>> loops_;  ///< of their outputs
  Preserved worst_part_ = Preserved::value;
  std::vector<Preserved> accesses_;  ///< of the current loop
  std::map<std::pair<const ExprNode*, const ExprNode*>, Preserved> seen_;
};

bool integers_differ(const NodeView& a, const NodeView& b) {
  for (size_t k = 0; k < a.inputs.size(); ++k)
    if (a.has(k) && is_integer(a.type(k).dtype) && a.type(k).dtype != b.type(k).dtype) return true;
  return false;
}

}  // namespace

bool is_value_function(const NodeView& view) {
  const OpDef& def = def_of(*view.op);
  return !view.op->unknown && !def.reads_bits && def.deterministic && !def.has_effects && view.bodies.empty();
}

std::vector<Preserved> preserved_in_wider(const NodeView& narrow, const NodeView& wide, const std::vector<bool>& low_bits) {
  const OpDef& def = def_of(*narrow.op);
  const size_t results = narrow.outputs.size();
  std::vector<Preserved> nothing(results, Preserved::nothing);
  if (!is_value_function(narrow)) return nothing;
  const bool all_whole = std::ranges::none_of(low_bits, std::identity());
  if (all_whole && (def.keeps_elements || !integers_differ(narrow, wide))) return std::vector<Preserved>(results, Preserved::value);
  if (!def.loop_form) return nothing;
  const auto a = def.loop_form(narrow), b = def.loop_form(wide);
  if (!a || !b) return nothing;
  std::vector<Preserved> preserved = Comparison(low_bits).run(*a, *b);
  return preserved.size() == results ? preserved : nothing;
}

bool same_in_wider(const NodeView& narrow, const NodeView& wide) {
  const std::vector<Preserved> preserved = preserved_in_wider(narrow, wide);
  for (size_t k = 0; k < preserved.size(); ++k)
    if (preserved[k] < (narrow.outputs[k].dtype == wide.outputs[k].dtype ? Preserved::value : Preserved::low_bits)) return false;
  return true;
}

}  // namespace tenon::ops
