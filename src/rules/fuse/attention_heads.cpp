// SPDX-License-Identifier: Apache-2.0
// Heads of Attention: side by side in one axis they are split, repeated ones are left to the op.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/attention.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::fuse_attention_heads {
using namespace rewrite;
namespace {

/// Operands of rank 3 with the heads side by side in the last axis.
bool joined_heads(Match& m) {
  const auto& a = m.node(m.root()).attributes;
  for (size_t k : {0, 1, 2}) {
    const DimList* shape = m.shape(m.operand(m.root(), k));
    if (!shape || shape->size() != 3 || !shape->back().is_number()) return false;
  }
  return a.integer("q_num_heads", 0) > 0 && a.integer("kv_num_heads", 0) > 0;
}

bool split_heads(const Match& m, Rewriter& w) {
  const Node& node = m.node(m.root());
  std::vector<ValueId> inputs = node.inputs;
  for (size_t k : {0, 1, 2}) {
    const int64_t heads = node.attributes.integer(k == 0 ? "q_num_heads" : "kv_num_heads", 1);
    const ValueId parts = w("Reshape", {inputs[k], w.ints({0, 0, heads, m.shape(inputs[k])->back().value() / heads})});
    inputs[k] = w("Transpose", {parts}, {{"perm", ir::Ints{0, 2, 1, 3}}});
  }
  auto results = w.many("Attention", inputs, node.outputs.size(), attributes_except(node, {"q_num_heads", "kv_num_heads"}));
  if (results.empty() || !results[0]) return false;
  const int64_t width = node.attributes.integer("q_num_heads", 1) * m.graph().value(results[0]).type.dim(3).value();
  results[0] = w("Reshape", {w("Transpose", {results[0]}, {{"perm", ir::Ints{0, 2, 1, 3}}}), w.ints({0, 0, width})});
  return replace_root_results(m, w, results);
}

using Pair = std::pair<ValueId, ValueId>;

bool grouped(Match& m) {
  const auto k = repeated_heads(m, m.operand(m.root(), 1)), v = repeated_heads(m, m.operand(m.root(), 2));
  if (!k || !v || m.operand(m.root(), 4) || !(*m.shape(k->source))[1].known_equal((*m.shape(v->source))[1])) return false;
  return m.accept(Pair{k->source, v->source});
}

bool to_grouped(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  std::tie(inputs[1], inputs[2]) = m.state<Pair>();
  return replace_root(m, w, w.clone_with_operands(m.root(), inputs)[0]);
}

}  // namespace

RULES(fuse_attention_heads) {
    .rules =
        {
            {.name = "attention_heads",
             .docs = "Attention on heads side by side: explicit Split and Transpose, which fold into the products before as views",
             .roots = "Attention",
             .match = joined_heads,
             .rewrite = split_heads,
             .benefit = 6,
             .allow_outside_uses = true},
            {.name = "attention_grouped",
             .docs = "keys and values whose heads are repeated: Attention repeats them itself (grouped queries)",
             .roots = "Attention",
             .match = grouped,
             .rewrite = to_grouped,
             .benefit = 5,
             .allow_outside_uses = true,
             .sets = "tenon default",
             .covered_patterns = "FunctionAttentionGQA AttentionGQA"},
        },
};

}  // namespace tenon::rules::fuse_attention_heads
