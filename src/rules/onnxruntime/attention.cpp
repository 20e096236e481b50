// SPDX-License-Identifier: Apache-2.0
// Attention as ONNX Runtime runs it: on heads side by side, so that no reshape and no transpose is left around it; then as
// MultiHeadAttention, GroupQueryAttention or Attention of its own domain where these can say it.
// A row that is masked with -inf from end to end gives 0 in ONNX's Attention and NaN in the others: masks go over to them only where NaN
// is what the node gives too (masked_rows), or they are constants without -inf.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/bounds.h"
#include "rules/helpers/head_layout.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_attention {
using namespace rewrite;
namespace {

constexpr size_t kMask = 3;

struct Joined {
  NodeId attention;
  ValueId q, k, v;
  MergedShape joins = MergedShape::unknown;  ///< what the reshape that follows makes of [batch, sequence, width]
};

/// A mask that kernels take: all of [.., queries, keys] there, but for batch and heads.
enum class MaskForm : uint8_t { ready, one_query, other };
MaskForm mask_form(const Match& m, ValueId mask, Dim queries, Dim keys) {
  if (!mask) return MaskForm::ready;
  const DimList* shape = m.shape(mask);
  if (!shape || shape->size() < 2 || shape->size() > 4 || !shape->back().known_equal(keys)) return MaskForm::other;
  const Dim rows = (*shape)[shape->size() - 2];
  if (rows.known_equal(queries)) return MaskForm::ready;
  return rows.known_equal(1) ? MaskForm::one_query : MaskForm::other;
}

bool joined_attention(Match& m) {
  const NodeId transpose = m.take(m.operand(m.root(), 0), "Transpose");
  if (!transpose || m.node(transpose).attributes.ints("perm") != ir::Ints{0, 2, 1, 3}) return false;
  const NodeId attention = m.take(m.operand(transpose, 0), "Attention");
  if (!attention || m.node(attention).outputs.size() != 1) return false;
  for (size_t k = 4; k < m.node(attention).explicit_inputs; ++k)
    if (m.operand(attention, k)) return m.refuse("a cache");
  Joined found{attention, operand_of_head_split(m, m.operand(attention, 0)), operand_of_head_split(m, m.operand(attention, 1)),
               operand_of_head_split(m, m.operand(attention, 2))};
  if (!found.q || !found.k || !found.v) return m.refuse("heads that do not lie side by side before");
  const DimList &q = *m.shape(found.q), &k = *m.shape(found.k);
  if (mask_form(m, m.operand(attention, kMask), q[1], k[1]) != MaskForm::ready) return m.refuse("a mask that is broadcast");
  const DimList* heads = m.shape(m.result(attention));
  if (!heads || !(*heads)[1].is_number() || !(*heads)[3].is_number()) return false;
  found.joins = shape_of_merged_heads(m, m.root(), {q[0], q[1], (*heads)[1] * (*heads)[3]});
  if (found.joins == MergedShape::unknown) return m.refuse("a reshape whose sizes are not known");
  return m.accept(found);
}

bool to_joined(const Match& m, Rewriter& w) {
  const Joined& found = m.state<Joined>();
  const NodeId id = found.attention;
  std::vector<ValueId> inputs{found.q, found.k, found.v};
  if (const ValueId mask = m.operand(id, kMask)) inputs.push_back(mask);
  std::vector<std::pair<std::string, ir::Attribute>> how{{"q_num_heads", (*m.shape(m.operand(id, 0)))[1].value()},
                                                         {"kv_num_heads", (*m.shape(m.operand(id, 1)))[1].value()}};
  for (const auto& [name, value] : m.node(id).attributes) how.emplace_back(name, value);
  const ValueId y = w("Attention", inputs, std::move(how));
  return replace_root(m, w, found.joins == MergedShape::same ? y : w.clone_with_operands(m.root(), {y, m.operand(m.root(), 1)})[0]);
}

/// The axis of queries and keys.
size_t sequence_axis(const DimList& shape) { return shape.size() == 3 ? 1 : 2; }

bool one_row_mask(Match& m) {
  const DimList *q = m.shape(m.operand(m.root(), 0)), *k = m.shape(m.operand(m.root(), 1));
  const ValueId mask = m.operand(m.root(), kMask);
  if (!mask || !q || !k || m.operand(m.root(), 4)) return false;
  const Dim queries = (*q)[sequence_axis(*q)];
  return mask_form(m, mask, queries, (*k)[sequence_axis(*k)]) == MaskForm::one_query && !queries.known_equal(1);
}

bool spread_mask(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  const ValueId joined = operand_of_head_split(m, inputs[0]), q = joined ? joined : inputs[0];
  const auto axis = static_cast<int64_t>(sequence_axis(*m.shape(q)));
  const Dim queries = (*m.shape(q))[axis];
  ValueId shape;
  if (queries.is_number()) shape = w.ints({queries.value(), 1});
  else shape = w("Concat", {w("Shape", {q}, {{"start", axis}, {"end", axis + 1}}), w.ints({1})}, {{"axis", int64_t{0}}});
  inputs[kMask] = w("Expand", {inputs[kMask], shape});
  const auto results = w.clone_with_operands(m.root(), inputs);
  for (size_t i = 0; i < results.size(); ++i)
    if (m.node(m.root()).outputs[i]) w.replace(m.node(m.root()).outputs[i], results[i]);
  return true;
}

/// Attention on heads side by side, in f32, that neither caps nor windows nor has a cache.
bool is_plain(const Match& m, NodeId id) {
  const Node& n = m.node(id);
  const ir::Attributes& a = n.attributes;
  if (n.outputs.size() != 1 || m.rank(n.inputs[0]) != 3 || m.dtype(n.inputs[0]) != DType::f32) return false;
  for (size_t k = 4; k < n.explicit_inputs; ++k)
    if (n.inputs[k]) return false;
  return a.text("masked_rows", "zero") != "clean" && a.integer("left_window_size", -1) < 0 && a.integer("right_window_size", -1) < 0 &&
         a.integer("softmax_precision", 1) == 1;
}

bool has_no_infinity(const Match& m, ValueId mask) {
  if (const Bounds bounds = bounds_of(m, mask))
    return m.dtype(mask) == DType::f32 && std::isfinite(bounds->first) && std::isfinite(bounds->second);
  const Tensor* t = m.is_constant(mask) ? m.graph().tensor_of(mask, 16 << 20) : nullptr;
  if (!t || t->dtype() != DType::f32) return false;
  for (int64_t i = 0; i < t->count(); ++i)
    if (!std::isfinite(t->number(i))) return false;
  return true;
}

bool same_length(const Match& m, NodeId id) { return (*m.shape(m.operand(id, 0)))[1].known_equal((*m.shape(m.operand(id, 1)))[1]); }

bool multi_head(Match& m) {
  const ir::Attributes& a = m.node(m.root()).attributes;
  const ValueId mask = m.operand(m.root(), kMask);
  if (!is_plain(m, m.root()) || a.number("softcap", 0) != 0) return false;
  if (a.integer("q_num_heads", 0) != a.integer("kv_num_heads", 0)) return m.refuse("keys have fewer heads");
  if (a.integer("is_causal", 0) != 0 && !same_length(m, m.root())) return m.refuse("causal, and as many keys as queries are not known");
  const bool gives_nan = a.text("masked_rows", "zero") == "nan";
  if (mask && (m.rank(mask) != 4 || !(gives_nan ? m.dtype(mask) == DType::f32 : has_no_infinity(m, mask))))
    return m.refuse("a mask that may hide all keys of a query");
  return true;
}

bool to_multi_head(const Match& m, Rewriter& w) {
  const Node& n = m.node(m.root());
  std::vector<ValueId> inputs{n.inputs[0], n.inputs[1], n.inputs[2]};
  if (const ValueId mask = m.operand(m.root(), kMask)) {
    inputs.resize(5);
    inputs.push_back(mask);
  }
  std::vector<std::pair<std::string, ir::Attribute>> how{{"num_heads", n.attributes.integer("q_num_heads", 1)}};
  if (n.attributes.has("scale")) how.emplace_back("scale", n.attributes.number("scale", 1));
  if (n.attributes.integer("is_causal", 0) != 0) how.emplace_back("unidirectional", int64_t{1});
  return replace_root(m, w, w("com.microsoft::MultiHeadAttention", inputs, std::move(how)));
}

/// The kernel needs head sizes in multiples of eight.
bool grouped_queries(Match& m) {
  const ir::Attributes& a = m.node(m.root()).attributes;
  if (!is_plain(m, m.root()) || m.operand(m.root(), kMask) || a.integer("is_causal", 0) == 0) return false;
  const int64_t heads = a.integer("q_num_heads", 0), fewer = a.integer("kv_num_heads", 0);
  const DimList &q = *m.shape(m.operand(m.root(), 0)), &v = *m.shape(m.operand(m.root(), 2));
  if (heads == fewer) return m.refuse("as many heads of keys as of queries: MultiHeadAttention");
  if (!q[2].is_number() || !v[2].is_number() || q[2].value() / heads != v[2].value() / fewer || q[2].value() / heads % 8 != 0)
    return m.refuse("a head size without a kernel");
  return same_length(m, m.root()) || m.refuse("as many keys as queries are not known");
}

bool to_grouped_queries(const Match& m, Rewriter& w) {
  const Node& n = m.node(m.root());
  const auto whole = [&](ValueId x) { return w("Cast", {x}, {{"to", static_cast<int64_t>(DType::i32)}}); };
  const ValueId batch = w("Shape", {n.inputs[0]}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
  const ValueId length = whole(w("Shape", {n.inputs[0]}, {{"start", int64_t{1}}, {"end", int64_t{2}}}));
  const ValueId last = w("Expand", {w("Sub", {length, w.scalar(DType::i32, 1)}), batch});
  std::vector<std::pair<std::string, ir::Attribute>> how{{"num_heads", n.attributes.integer("q_num_heads", 1)},
                                                         {"kv_num_heads", n.attributes.integer("kv_num_heads", 1)}};
  if (n.attributes.has("scale")) how.emplace_back("scale", n.attributes.number("scale", 1));
  if (n.attributes.number("softcap", 0) != 0) how.emplace_back("softcap", n.attributes.number("softcap", 0));
  return replace_root(
      m, w, w("com.microsoft::GroupQueryAttention", {n.inputs[0], n.inputs[1], n.inputs[2], {}, {}, last, length}, std::move(how)));
}

/// MultiHeadAttention of the parts of one product: Attention has the weights itself. (Without a bias its kernel crashes.)
struct Packed {
  NodeId split;
  ValueId x, weights, bias;
};

/// The root reads the three parts of one Split in their order, and of the other operands scores to add alone.
NodeId parts_in_order(Match& m) {
  const Node& n = m.node(m.root());
  const NodeId split = m.take(n.inputs[0], "Split");
  if (!split || m.node(split).outputs.size() != 3 || n.outputs.size() != 1) return {};
  for (size_t k = 0; k < 3; ++k)
    if (m.operand(m.root(), k) != m.result(split, k)) return {};
  for (size_t k = 3; k < n.explicit_inputs; ++k)
    if (n.inputs[k] && k != 5) return {};
  return split;
}

bool packed_weights(Match& m) {
  const NodeId split = parts_in_order(m);
  if (!split) return false;
  const ValueId all = m.operand(split, 0);
  const NodeId add = m.axis(split, "axis", 0, all) == 2 ? m.take(all, "Add") : NodeId{};
  for (size_t k : {0, 1}) {
    const NodeId product = add ? m.producer(m.operand(add, k), "MatMul") : NodeId{};
    const ValueId bias = add ? m.operand(add, 1 - k) : ValueId{};
    if (!product || m.rank(bias) != 1 || !m.is_constant(bias) || m.rank(m.operand(product, 1)) != 2 || m.rank(m.operand(product, 0)) != 3)
      continue;
    if (!m.is_constant(m.operand(product, 1)) || !m.shape(bias)->front().known_equal(m.shape(all)->back())) continue;
    m.take(product);
    return m.accept(Packed{split, m.operand(product, 0), m.operand(product, 1), bias});
  }
  return false;
}

bool to_packed(const Match& m, Rewriter& w) {
  const Packed& found = m.state<Packed>();
  const Node& n = m.node(m.root());
  std::vector<ValueId> inputs{found.x, found.weights, found.bias};
  if (const ValueId scores = m.operand(m.root(), 5)) {
    inputs.resize(5);
    inputs.push_back(scores);
  }
  ir::Ints sizes;
  for (size_t k = 0; k < 3; ++k) {
    const Dim width = m.shape(m.result(found.split, k))->back();
    if (!width.is_number()) return false;
    sizes.push_back(width.value());
  }
  auto how = attributes_except(n, {});
  if (sizes[0] != sizes[1] || sizes[1] != sizes[2]) how.emplace_back("qkv_hidden_sizes", sizes);
  return replace_root(m, w, w("com.microsoft::Attention", inputs, std::move(how)));
}

}  // namespace

RULES(onnxruntime_attention) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "attention_joined",
             .docs = "Attention takes heads side by side: the reshapes and transposes around it go",
             .roots = "Reshape",
             .match = joined_attention,
             .rewrite = to_joined,
             .benefit = 9},
            {.name = "attention_mask_rows",
             .docs = "a mask of one row is written once a query: ONNX Runtime's kernel does not broadcast it",
             .roots = "Attention",
             .match = one_row_mask,
             .rewrite = spread_mask,
             .benefit = 1,
             .allow_outside_uses = true},
            {.name = "multi_head_attention",
             .docs = "Attention on heads side by side, without a mask that may hide all keys of a query",
             .roots = "Attention",
             .match = multi_head,
             .rewrite = to_multi_head,
             .benefit = 7,
             .covered_patterns = "MultiHeadAttention3D"},
            {.name = "group_query_attention",
             .docs = "causal Attention whose keys have fewer heads than the queries",
             .roots = "Attention",
             .match = grouped_queries,
             .rewrite = to_grouped_queries,
             .benefit = 7,
             .covered_patterns = "GroupQueryAttention3D"},
            {.name = "attention_weights",
             .docs = "the product that makes queries, keys and values is part of Attention",
             .roots = "com.microsoft::MultiHeadAttention",
             .match = packed_weights,
             .rewrite = to_packed,
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .covered_patterns = "Attention3D"},
        },
};

}  // namespace tenon::rules::onnxruntime_attention
