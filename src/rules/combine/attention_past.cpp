// SPDX-License-Identifier: Apache-2.0
// Keys and values that are joined with those of earlier steps before Attention: it joins them itself and gives the joined ones out. Exact:
// the definition of Attention's past operands. Not where is_causal is set, whose meaning depends on how many keys are past.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/attention.h"

namespace tenon::rules::combine_attention_past {
using namespace rewrite;
namespace {

bool past_before(Match& m) {
  const Node& node = m.node(m.root());
  const auto past = cache_concats_of(m);
  if (!past || m.operand(m.root(), 4) || m.operand(m.root(), 6) || node.outputs.size() > 1) return false;
  if (m.rank(m.operand(m.root(), 0)) != 4 || node.attributes.integer("is_causal", 0) != 0) return m.refuse("causal by position");
  return m.accept(*past);
}

bool to_past(const Match& m, Rewriter& w) { return replace_with_cached_attention(m, w, m.state<CacheConcats>(), "Attention"); }

}  // namespace

RULES(combine_attention_past) {
    .sets = "default",
    .rules =
        {
            {.name = "attention_past",
             .docs = "keys and values joined with earlier ones before Attention: its operands past_key and past_value",
             .roots = "Attention",
             .match = past_before,
             .rewrite = to_past,
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "AttentionGQA"},
        },
};

}  // namespace tenon::rules::combine_attention_past
