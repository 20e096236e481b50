// SPDX-License-Identifier: Apache-2.0
// The largest (smallest) element along an axis and its place: TopK finds both in one pass. TopK names the first of equals, as ArgMax does
// by default. NaN is the largest number to TopK: so it is to ReduceMax and ArgMax, but not to ReduceMin and ArgMin.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::combine_reduce_arg {
using namespace rewrite;
namespace {

struct ReducedArg {
  NodeId arg;
  int64_t axis;
};

/// The axis alone that the root reduces.
std::optional<int64_t> reduced_axis(const Match& m) {
  const auto rank = m.rank(m.operand(m.root(), 0));
  const auto axes = m.ints(m.root(), "axes", 1);
  if (!rank || !axes || axes->size() != 1) return std::nullopt;
  return (*axes)[0] < 0 ? (*axes)[0] + *rank : (*axes)[0];
}

bool with_place(Match& m, std::string_view arg) {
  const ValueId x = m.operand(m.root(), 0);
  const auto axis = reduced_axis(m);
  if (!axis || m.dtype(x) == DType::boolean) return false;
  for (const ir::Use& use : m.value(x).uses) {
    if (!use.node || !m.node(use.node).is(arg) || m.axis(use.node, "axis", 0, x) != static_cast<int>(*axis)) continue;
    if (m.node(use.node).attributes.integer("select_last_index", 0) != 0) continue;
    m.take(use.node);
    m.other_roots.push_back(use.node);
    return m.accept(ReducedArg{use.node, *axis});
  }
  return false;
}
bool largest(Match& m) { return with_place(m, "ArgMax"); }
bool smallest(Match& m) { return with_place(m, "ArgMin"); }

bool to_top_k(const Match& m, Rewriter& w) {
  const ReducedArg& found = m.state<ReducedArg>();
  const auto best = w.many("TopK", {m.operand(m.root(), 0), w.ints({1})}, 2,
                           {{"axis", found.axis}, {"largest", int64_t{m.node(m.root()).is("ReduceMax")}}, {"sorted", int64_t{1}}});
  for (size_t i = 0; i < best.size(); ++i) {
    const NodeId node = i == 0 ? m.root() : found.arg;
    const bool keeps = m.node(node).attributes.integer("keepdims", 1) != 0;
    w.replace(m.result(node), keeps ? best[i] : w("Squeeze", {best[i], w.ints({found.axis})}));
  }
  return true;
}

}  // namespace

RULES(combine_reduce_arg) {
    .sets = "default",
    .rules =
        {
            {.name = "max_and_place",
             .docs = "ReduceMax and ArgMax along one axis are TopK of one element",
             .roots = "ReduceMax",
             .match = largest,
             .rewrite = to_top_k,
             .benefit = 2,
             .covered_patterns = "ReduceArgTopK"},
            {.name = "min_and_place",
             .docs = "ReduceMin and ArgMin along one axis are TopK of one element (but for NaN, which TopK puts last)",
             .roots = "ReduceMin",
             .match = smallest,
             .rewrite = to_top_k,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 2,
             .covered_patterns = "ReduceArgTopK"},
            {.name = "reduce_in_place",
             .docs = "x - sum(x) * y between casts to a wider dtype and back, computed in the narrow one: loses precision",
             .equation = "Cast(Sub(Cast(?x, to=?wide), Mul(ReduceSum(Cast(?x, to=?wide), ?axes, keepdims=?k), ?y)), to=?narrow)"
                         " => Sub(?x, Mul(ReduceSum(?x, ?axes, keepdims=?k), Cast(?y, to=?narrow))) where float(?x), float(?y),"
                         " dtype(?x) == ?narrow",
             .numerics = Numerics::approximate,
             .benefit = 4,
             .covered_patterns = "ReduceSumNormalize"},
        },
};

}  // namespace tenon::rules::combine_reduce_arg
