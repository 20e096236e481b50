// SPDX-License-Identifier: Apache-2.0
// Each query of Attention looks at the keys alone: queries whose result nobody reads are left out, keys and values stay whole. What a
// query may see goes with it: its rows of the mask, and where the op hides the keys after a query by its place, a mask that says so.
#include "rules/helpers/attention.h"
#include "rewrite/rule.h"
#include "rules/helpers/give_back.h"
#include "rules/helpers/picks.h"

namespace tenon::rules::trim_attention {
using namespace rewrite;
namespace {

constexpr size_t kKey = 1, kMask = 3, kPastKey = 4, kNonpad = 6;
constexpr int kRank = 4, kQueryAxis = 2;

/// How places hide keys once queries are left out.
enum class Causal : uint8_t { none, as_before, all_visible, by_mask };

struct Queries {
  Moved moved;
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

std::optional<Causal> causal_after(Match& m, const Pick& pick) {
  const auto& attributes = m.node(pick.maker).attributes;
  if (attributes.integer("left_window_size", -1) >= 0 || attributes.integer("right_window_size", -1) >= 0) {
    m.refuse("a window counts from the place of the query");
    return std::nullopt;
  }
  if (attributes.integer("is_causal", 0) == 0) return Causal::none;
  // The last query is at nonpad - 1, also where it is the only one; without, it sees as many keys as there are queries.
  if (m.operand(pick.maker, kNonpad)) return pick.last ? std::optional(Causal::as_before) : std::nullopt;
  const DimList* keys = m.shape(m.operand(pick.maker, kKey));
  if (pick.last && keys && (*keys)[kQueryAxis].known_equal(pick.size)) return Causal::all_visible;
  if (m.operand(pick.maker, kPastKey) || !keys || !mask_is_full(m, pick.maker)) {
    m.refuse("causal after past keys, or over a mask that is shorter than the keys");
    return std::nullopt;
  }
  return Causal::by_mask;
}

bool queries(Match& m) {
  const auto pick = only_pick(m);
  if (!pick || !m.node(pick->maker).is("Attention")) return false;
  if (pick->value != m.result(pick->maker) || !only_first_result(m, pick->maker)) return m.refuse("another result is read");
  if (m.rank(pick->value) != kRank || pick->axis != kQueryAxis) return m.refuse("other elements than queries");
  Queries found{{*pick, std::vector<int>(m.node(pick->maker).inputs.size(), kWhole)}};
  found.moved.axes[0] = kQueryAxis;
  if (const ValueId mask = m.operand(pick->maker, kMask)) {
    const auto rank = m.rank(mask);
    if (!rank) return false;
    const auto axis = *rank >= 2 ? aligned_axis(m, *pick, mask) : kWhole;
    if (!axis) return m.refuse("whether the mask has a row for each query is not known");
    found.moved.axes[kMask] = *axis;
  }
  const auto causal = causal_after(m, *pick);
  if (!causal) return false;
  found.causal = *causal;
  return m.keep(std::move(found));
}

/// Which keys the queries that are left may see, over `mask`, which may be none.
ValueId with_causal(const Match& m, Rewriter& w, const Pick& pick, ValueId mask) {
  const ValueId rows = picked(m, w, pick, places_along(w, as_long_as_queries(m, pick.maker), kQueryAxis), 0);
  const ValueId keys = places_along(w, m.operand(pick.maker, kKey), kQueryAxis);
  return mask_of_both(w, mask, w("LessOrEqual", {keys, w("Unsqueeze", {rows, w.ints({1})})}));
}

bool fewer_queries(const Match& m, Rewriter& w) {
  const Queries& found = m.kept<Queries>();
  const Pick& pick = found.moved.pick;
  const Node& node = m.node(pick.maker);
  std::vector<ValueId> inputs(node.inputs.begin(), node.inputs.end());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (found.moved.axes[i] != kWhole) inputs[i] = picked(m, w, pick, inputs[i], found.moved.axes[i]);
  if (found.causal == Causal::by_mask) {
    inputs.resize(std::max(inputs.size(), kMask + 1));
    inputs[kMask] = with_causal(m, w, pick, inputs[kMask]);
  }
  auto attributes = attributes_but(node, {found.causal == Causal::as_before ? "" : "is_causal"});
  return give_picked(m, w, pick, w("Attention", std::move(inputs), std::move(attributes)));
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
             .shared = true},
        },
};

}  // namespace tenon::rules::trim_attention
