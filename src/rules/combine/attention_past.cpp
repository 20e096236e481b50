// SPDX-License-Identifier: Apache-2.0
// Keys and values that are joined with those of earlier steps before Attention: it joins them itself and gives the joined ones out. Exact:
// the definition of Attention's past operands. Not where is_causal is set, whose meaning depends on how many keys are past.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::combine_attention_past {
using namespace rewrite;
namespace {

/// Concat(past, x) along the sequence of [batch, heads, sequence, size].
NodeId joined(const Match& m, ValueId value) {
  const NodeId concat = m.made_by(value, "Concat");
  const bool fits = concat && m.rank(value) == 4 && m.node(concat).inputs.size() == 2 && m.axis(concat, "axis", 0, value) == 2;
  return fits ? concat : NodeId{};
}

struct Past {
  NodeId keys, values;
};

bool past_before(Match& m) {
  const Node& node = m.node(m.root());
  const NodeId keys = joined(m, m.operand(m.root(), 1)), values = joined(m, m.operand(m.root(), 2));
  if (!keys || !values || m.operand(m.root(), 4) || m.operand(m.root(), 6) || node.outputs.size() > 1) return false;
  if (m.rank(m.operand(m.root(), 0)) != 4 || node.attributes.integer("is_causal", 0) != 0) return m.refuse("causal by position");
  return m.keep(Past{keys, values});
}

bool hand_over(const Match& m, Rewriter& w) {
  const Past& found = m.kept<Past>();
  const std::vector<ValueId> inputs{m.operand(m.root(), 0), m.operand(found.keys, 1), m.operand(found.values, 1),
                                    m.operand(m.root(), 3), m.operand(found.keys, 0), m.operand(found.values, 0)};
  const auto& attributes = m.node(m.root()).attributes;
  const auto results = w.many("Attention", inputs, 3, {attributes.begin(), attributes.end()});
  if (results.size() < 3) return false;
  w.replace(m.result(m.root()), results[0]);
  w.replace(m.result(found.keys), results[1]);
  if (found.values != found.keys) w.replace(m.result(found.values), results[2]);
  return true;
}

}  // namespace

RULES(combine_attention_past) {
    .sets = "default",
    .rules =
        {
            {.name = "attention_past",
             .docs = "keys and values joined with earlier ones before Attention: its operands past_key and past_value",
             .roots = "Attention",
             .match = past_before,
             .rewrite = hand_over,
             .benefit = 3,
             .shared = true,
             .seeds = "AttentionGQA"},
        },
};

}  // namespace tenon::rules::combine_attention_past
