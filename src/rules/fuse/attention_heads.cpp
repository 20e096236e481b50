// SPDX-License-Identifier: Apache-2.0
// Heads of Attention: side by side in one axis they are split, repeated ones are left to the op.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/give_back.h"

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
  auto results = w.many("Attention", inputs, node.outputs.size(), attributes_but(node, {"q_num_heads", "kv_num_heads"}));
  if (results.empty() || !results[0]) return false;
  const int64_t width = node.attributes.integer("q_num_heads", 1) * m.graph().value(results[0]).type.dim(3).value();
  results[0] = w("Reshape", {w("Transpose", {results[0]}, {{"perm", ir::Ints{0, 2, 1, 3}}}), w.ints({0, 0, width})});
  return give_all(m, w, results);
}

/// Reshape(Expand(Unsqueeze(x, 2))), or Squeeze of one head: each head of x several times in a row. Returns x.
ValueId repeated_heads(const Match& m, ValueId value) {
  const NodeId flat = m.made_by(value, "Reshape"), reshape = flat ? flat : m.made_by(value, "Squeeze");
  const NodeId expand = reshape ? m.made_by(m.operand(reshape, 0), "Expand") : NodeId{};
  const NodeId split = expand ? m.producer(m.operand(expand, 0)) : NodeId{};
  if (!split || !(m.node(split).is("Unsqueeze") || m.node(split).is("Reshape"))) return {};
  const ValueId source = m.operand(split, 0);
  const DimList *out = m.shape(value), *wide = m.shape(m.result(expand)), *narrow = m.shape(m.result(split)), *in = m.shape(source);
  if (!out || !wide || !narrow || !in || out->size() != 4 || wide->size() != 5 || narrow->size() != 5 || in->size() != 4) return {};
  const auto same = [](Dim a, Dim b) { return a.known_equal(b); };
  const bool fits = same((*narrow)[2], 1) && same((*in)[0], (*narrow)[0]) && same((*in)[1], (*narrow)[1]) && same((*in)[2], (*narrow)[3]) &&
                    same((*in)[3], (*narrow)[4]) && same((*in)[0], (*wide)[0]) && same((*in)[1], (*wide)[1]) &&
                    same((*in)[2], (*wide)[3]) && same((*in)[3], (*wide)[4]) && same((*in)[0], (*out)[0]) && same((*in)[2], (*out)[2]) &&
                    same((*in)[3], (*out)[3]);
  return fits ? source : ValueId{};
}

using Pair = std::pair<ValueId, ValueId>;

bool grouped(Match& m) {
  const ValueId k = repeated_heads(m, m.operand(m.root(), 1)), v = repeated_heads(m, m.operand(m.root(), 2));
  if (!k || !v || m.operand(m.root(), 4) || !(*m.shape(k))[1].known_equal((*m.shape(v))[1])) return false;
  return m.keep(Pair{k, v});
}

bool to_grouped(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  std::tie(inputs[1], inputs[2]) = m.kept<Pair>();
  return give(m, w, w.again(m.root(), inputs)[0]);
}

}  // namespace

RULES(fuse_attention_heads) {
    .rules =
        {
            {.name = "attention_heads",
             .docs = "Attention on heads side by side: split and turned in plain sight, where views fold into the products before",
             .roots = "Attention",
             .match = joined_heads,
             .rewrite = split_heads,
             .benefit = 6,
             .shared = true},
            {.name = "attention_grouped",
             .docs = "keys and values whose heads are repeated: Attention repeats them itself (grouped queries)",
             .roots = "Attention",
             .match = grouped,
             .rewrite = to_grouped,
             .benefit = 5,
             .shared = true,
             .sets = "tenon default",
             .seeds = "FunctionAttentionGQA AttentionGQA"},
        },
};

}  // namespace tenon::rules::fuse_attention_heads
