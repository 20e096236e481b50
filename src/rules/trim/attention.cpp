// SPDX-License-Identifier: Apache-2.0
// Each query of Attention reads only keys and values: queries whose results have no reader are removed, keys and values stay whole. The
// mask is reduced to the rows of the remaining queries; causal masking by position becomes an explicit mask.
#include "rules/helpers/attention.h"
#include "rewrite/rule.h"
#include "rules/helpers/axis_selection.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::trim_attention {
using namespace rewrite;
namespace {

constexpr size_t kKey = 1, kMask = 3, kPastKey = 4, kNonpad = 6;
constexpr int kRank = 4, kQueryAxis = 2;

/// How places hide keys once queries are left out.
enum class Causal : uint8_t { none, as_before, all_visible, by_mask };

struct Queries {
  MovedSelection moved;
  Causal causal = Causal::none;
};

bool only_first_result(const Match& m, NodeId node) {
  const auto& outputs = m.node(node).outputs;
  for (size_t i = 1; i < outputs.size(); ++i)
    if (outputs[i] && m.use_count(outputs[i]) > 0) return false;
  return true;
}

/// The mask of Attention covers all keys: its last axis is as long as they are, so that another mask can be laid over it.
bool mask_is_full(const Match& m, NodeId node) {
  const ValueId mask = m.operand(node, kMask);
  return !mask || (*m.shape(mask)).back().known_equal((*m.shape(m.operand(node, kKey)))[kQueryAxis]);
}

std::optional<Causal> causal_after(Match& m, const AxisSelection& selection) {
  const auto& attributes = m.node(selection.producer).attributes;
  if (attributes.integer("left_window_size", -1) >= 0 || attributes.integer("right_window_size", -1) >= 0) {
    m.refuse("a window counts from the place of the query");
    return std::nullopt;
  }
  if (attributes.integer("is_causal", 0) == 0) return Causal::none;
  // The last query is at nonpad - 1, also where it is the only one; without, it sees as many keys as there are queries.
  if (m.operand(selection.producer, kNonpad)) return selection.last ? std::optional(Causal::as_before) : std::nullopt;
  const DimList* keys = m.shape(m.operand(selection.producer, kKey));
  if (selection.last && keys && (*keys)[kQueryAxis].known_equal(selection.size)) return Causal::all_visible;
  if (m.operand(selection.producer, kPastKey) || !keys || !mask_is_full(m, selection.producer)) {
    m.refuse("causal after past keys, or over a mask that is shorter than the keys");
    return std::nullopt;
  }
  return Causal::by_mask;
}

bool queries(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !m.node(selection->producer).is("Attention")) return false;
  if (selection->value != m.result(selection->producer) || !only_first_result(m, selection->producer))
    return m.refuse("another result is read");
  if (m.rank(selection->value) != kRank || selection->axis != kQueryAxis) return m.refuse("other elements than queries");
  Queries found{{*selection, std::vector<int>(m.node(selection->producer).inputs.size(), kUnselected)}};
  found.moved.axes[0] = kQueryAxis;
  if (const ValueId mask = m.operand(selection->producer, kMask)) {
    const auto rank = m.rank(mask);
    if (!rank) return false;
    const auto axis = *rank >= 2 ? aligned_axis(m, *selection, mask) : kUnselected;
    if (!axis) return m.refuse("whether the mask has a row for each query is not known");
    found.moved.axes[kMask] = *axis;
  }
  const auto causal = causal_after(m, *selection);
  if (!causal) return false;
  found.causal = *causal;
  return m.accept(std::move(found));
}

/// Which keys the queries that are left may see, over `mask`, which may be none.
ValueId with_causal(const Match& m, Rewriter& w, const AxisSelection& selection, ValueId mask) {
  const ValueId rows = select_from(m, w, selection, positions_along(w, operand_with_query_length(m, selection.producer), kQueryAxis), 0);
  const ValueId keys = positions_along(w, m.operand(selection.producer, kKey), kQueryAxis);
  return combined_mask(w, mask, w("LessOrEqual", {keys, w("Unsqueeze", {rows, w.ints({1})})}));
}

bool fewer_queries(const Match& m, Rewriter& w) {
  const Queries& found = m.state<Queries>();
  const AxisSelection& selection = found.moved.selection;
  const Node& node = m.node(selection.producer);
  std::vector<ValueId> inputs(node.inputs.begin(), node.inputs.end());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (found.moved.axes[i] != kUnselected) inputs[i] = select_from(m, w, selection, inputs[i], found.moved.axes[i]);
  if (found.causal == Causal::by_mask) {
    inputs.resize(std::max(inputs.size(), kMask + 1));
    inputs[kMask] = with_causal(m, w, selection, inputs[kMask]);
  }
  auto attributes = attributes_except(node, {found.causal == Causal::as_before ? "" : "is_causal"});
  return replace_readers(m, w, selection, w("Attention", std::move(inputs), std::move(attributes)));
}

}  // namespace

RULES(trim_attention) {
    .rules =
        {
            {.name = "pick_queries",
             .docs = "some rows of Attention need some queries; keys and values stay whole, and what a query may not see goes with it",
             .roots = "Gather Slice",
             .match = queries,
             .rewrite = fewer_queries,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::trim_attention
