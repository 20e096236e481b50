// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention (or LocalAttention) of three products of one value becomes Attention of ONNX Runtime, which has the three weights side
// by side. Factors of queries and keys are factors of the scores. Without a bias the kernel crashes, so there are zeros. A hidden key has
// the score `low` in LocalAttention, and score + low in Attention: equal after rounding where `low` is huge. Where all keys of a row are
// hidden, all have equal weights in both, as long as `low` is finite.
#include <cmath>
#include <limits>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/head_layout.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_attention_products {
using namespace rewrite;
namespace {

struct Products {
  ValueId x;
  ValueId weights[3];
  ir::Ints widths;
  double scale = 1;
};

/// alpha * x * constant weights: a product, plain or fused. k: 0 queries, 1 keys, 2 values.
bool product_of(Match& m, ValueId value, size_t k, Products& found) {
  const NodeId plain = m.take(value, "MatMul"), node = plain ? plain : m.take(value, "com.microsoft::FusedMatMul");
  if (!node || m.rank(m.operand(node, 0)) != 3 || m.rank(m.operand(node, 1)) != 2 || !m.is_constant(m.operand(node, 1))) return false;
  for (std::string_view flag : {"transA", "transB", "transBatchA", "transBatchB"})
    if (m.node(node).attributes.integer(flag, 0) != 0) return false;
  const double alpha = m.node(node).attributes.number("alpha", 1);
  if ((k == 2 && alpha != 1) || alpha <= 0 || (found.x && found.x != m.operand(node, 0))) return false;
  found.x = m.operand(node, 0);
  found.weights[k] = m.operand(node, 1);
  found.widths.push_back(m.shape(found.weights[k])->back().value());
  found.scale *= alpha;
  return true;
}

bool three_products(Match& m) {
  const Node& n = m.node(m.root());
  const int64_t heads = n.attributes.integer("num_heads", 0);
  for (size_t k = 3; k < n.explicit_inputs; ++k)
    if (n.inputs[k] && k != 5) return m.refuse("a bias, a mask of keys or a cache");
  if (n.outputs.size() != 1 || heads <= 0 || m.dtype(n.inputs[0]) != DType::f32) return false;
  Products found;
  for (size_t k : {0, 1, 2})
    if (!m.operand(m.root(), k) || !product_of(m, m.operand(m.root(), k), k, found))
      return m.refuse("queries, keys and values are not products of one value");
  if (found.widths[0] != found.widths[1] || found.widths[0] % heads != 0) return false;
  const double usual = 1 / std::sqrt(static_cast<double>(found.widths[0] / heads)), given_scale = n.attributes.number("scale", 0);
  found.scale *= given_scale == 0 ? usual : given_scale;
  return m.accept(std::move(found));
}

/// Attention of the products with these scores added; none where there is no memory.
ValueId packed_attention(Rewriter& w, const Products& found, ValueId scores, std::vector<std::pair<std::string, ir::Attribute>> how) {
  auto zeros = Tensor::make(DType::f32, {found.widths[0] + found.widths[1] + found.widths[2]});
  if (!zeros) return {};
  for (int64_t i = 0; i < zeros->count(); ++i) zeros->set_number(i, 0);
  const ValueId weights = w("Concat", {found.weights[0], found.weights[1], found.weights[2]}, {{"axis", int64_t{1}}});
  std::vector<ValueId> inputs{found.x, weights, w.constant(std::move(*zeros))};
  if (scores) inputs.insert(inputs.end(), {ValueId{}, ValueId{}, scores});
  how.emplace_back("scale", static_cast<float>(found.scale));
  if (found.widths[1] != found.widths[2]) how.emplace_back("qkv_hidden_sizes", found.widths);
  return w("com.microsoft::Attention", inputs, std::move(how));
}

bool to_attention(const Match& m, Rewriter& w) {
  const ValueId y = packed_attention(w, m.state<Products>(), m.operand(m.root(), 5), attributes_except(m.node(m.root()), {"scale"}));
  return y && replace_root(m, w, y);
}

struct Local {
  Products products;
  NodeId attention;
  int64_t heads;
  MergedShape joins;  ///< what the Reshape that follows makes of [batch, sequence, width]
};

/// [.., queries, keys] but for batch and heads, which may be one.
bool mask_fits(const DimList* mask, Dim batch, int64_t heads, Dim length) {
  const auto one_or = [](Dim dim, Dim other) { return dim.known_equal(1) || dim.known_equal(other); };
  return mask && mask->size() == 4 && one_or((*mask)[0], batch) && one_or((*mask)[1], heads) && (*mask)[2].known_equal(length) &&
         (*mask)[3].known_equal(length);
}

/// Reshape(Transpose(LocalAttention)), as heads are set side by side again.
bool three_local_products(Match& m) {
  const NodeId transpose = m.take(m.operand(m.root(), 0), "Transpose");
  if (!transpose || m.node(transpose).attributes.ints("perm") != ir::Ints{0, 2, 1, 3}) return false;
  Local found{};
  found.attention = m.take(m.operand(transpose, 0), "tenon::LocalAttention");
  if (!found.attention || m.dtype(m.result(transpose)) != DType::f32) return false;
  const double low = m.node(found.attention).attributes.number("low", -std::numeric_limits<double>::infinity());
  if (!std::isfinite(low) || low > -1e30) return m.refuse("what is hidden is not low, or lower than any number");
  for (size_t k : {0, 1, 2}) {
    const ValueId apart = m.operand(found.attention, k), joined = operand_of_head_split(m, apart);
    if (!joined) return m.refuse("heads that do not lie side by side before");
    if (k > 0 && (*m.shape(apart))[1].value() != found.heads) return m.refuse("keys or values of fewer heads");
    found.heads = (*m.shape(apart))[1].value();
    m.take(m.take(apart, "Transpose") ? m.operand(m.producer(apart), 0) : ValueId{}, "Reshape");
    if (!product_of(m, joined, k, found.products)) return m.refuse("queries, keys and values are not products of one value");
  }
  const DimList& x = *m.shape(found.products.x);
  if (found.products.widths[0] != found.products.widths[1]) return false;
  if (!mask_fits(m.shape(m.operand(found.attention, 3)), x[0], found.heads, x[1])) return m.refuse("a mask of another shape");
  found.products.scale *= m.node(found.attention).attributes.number("scale", 1);
  found.joins = shape_of_merged_heads(m, m.root(), {x[0], x[1], found.products.widths[2]});
  return found.joins == MergedShape::unknown ? m.refuse("a reshape whose sizes are not known") : m.accept(std::move(found));
}

bool local_to_attention(const Match& m, Rewriter& w) {
  const Local& found = m.state<Local>();
  const double low = m.node(found.attention).attributes.number("low", 0);
  const ValueId scores = w("Where", {m.operand(found.attention, 3), w.scalar(DType::f32, 0), w.scalar(DType::f32, low)});
  const ValueId y = packed_attention(w, found.products, scores, {{"num_heads", found.heads}});
  if (!y) return false;
  return replace_root(m, w, found.joins == MergedShape::same ? y : w.clone_with_operands(m.root(), {y, m.operand(m.root(), 1)})[0]);
}

}  // namespace

RULES(onnxruntime_attention_products) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "attention_products",
             .docs = "three products of one value by constant weights are part of Attention",
             .roots = "com.microsoft::MultiHeadAttention",
             .match = three_products,
             .rewrite = to_attention,
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .covered_patterns = "Attention3D"},
            {.name = "local_attention_products",
             .docs = "the same of LocalAttention, whose mask is added as 0 or a huge number (a hidden score of NaN or infinity gives NaN)",
             .roots = "Reshape",
             .match = three_local_products,
             .rewrite = local_to_attention,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 8,
             .covered_patterns = "Attention3D"},
        },
};

}  // namespace tenon::rules::onnxruntime_attention_products
