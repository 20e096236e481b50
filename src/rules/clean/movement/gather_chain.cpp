// SPDX-License-Identifier: Apache-2.0
// A Gather of a Gather along the axis that the first one has chosen picks from its list of places.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_gather_chain {
using namespace rewrite;
namespace {

struct PickedPlaces {
  ValueId source;
  ir::Ints places;
};

/// Axis of a Gather from the front; where the rank is not known, what is there if that is no count from the back.
std::optional<int64_t> axis_of(const Match& m, NodeId node) {
  if (const auto axis = m.axis(node, "axis", 0, m.operand(node, 0))) return *axis;
  const int64_t axis = m.node(node).attributes.integer("axis", 0);
  return axis >= 0 ? std::optional(axis) : std::nullopt;
}

bool known_places(Match& m) {
  const NodeId inner = m.producer(m.operand(m.root(), 0), "Gather");
  if (!inner) return false;
  const auto first = m.ints(m.operand(inner, 1)), second = m.ints(m.operand(m.root(), 1));
  if (!first || !second || m.rank(m.operand(inner, 1)) != 1) return m.refuse("the indices are not constant, or the first ones no list");
  const auto axis = axis_of(m, m.root());
  if (!axis || axis != axis_of(m, inner)) return m.refuse("the axes differ");
  PickedPlaces found{m.operand(inner, 0), {}};
  const int64_t n = static_cast<int64_t>(first->size());
  for (int64_t i : *second) {
    if (i < -n || i >= n) return m.refuse("an index is out of range");
    found.places.push_back((*first)[static_cast<size_t>(i < 0 ? i + n : i)]);
  }
  return m.accept(std::move(found));
}

bool one_gather(const Match& m, Rewriter& w) {
  const PickedPlaces& found = m.state<PickedPlaces>();
  auto indices = Tensor::make(DType::i64, m.graph().tensor_of(m.operand(m.root(), 1))->shape());
  if (!indices) return false;
  for (size_t i = 0; i < found.places.size(); ++i) indices->set_integer(static_cast<int64_t>(i), found.places[i]);
  return replace_root(m, w, w.clone_with_operands(m.root(), {found.source, w.constant(std::move(*indices))})[0]);
}

}  // namespace

RULES(clean_gather_chain) {
    .sets = "tenon default",
    .rules =
        {
            {.name = "gather_gather",
             .docs = "a Gather of a Gather along one axis by known indices is one Gather",
             .roots = "Gather",
             .match = known_places,
             .rewrite = one_gather,
             .benefit = 5,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "GatherGather"},
        },
};

}  // namespace tenon::rules::clean_gather_chain
