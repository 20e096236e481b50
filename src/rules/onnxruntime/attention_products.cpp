// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention of three products of one value: Attention of ONNX Runtime has their weights side by side itself. Factors of queries
// and keys are factors of the scores. Without a bias the kernel crashes, so there are zeros.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/give_back.h"

namespace tenon::rules::onnxruntime_attention_products {
using namespace rewrite;
namespace {

struct Products {
  ValueId x;
  ValueId weights[3];
  ir::Ints widths;
  double scale = 1;
};

/// alpha * x * constant weights: a product, plain or fused.
bool product_of(Match& m, size_t k, Products& found) {
  const ValueId value = m.operand(m.root(), k);
  const NodeId plain = m.take(value, "MatMul"), node = plain ? plain : m.take(value, "com.microsoft::FusedMatMul");
  if (!node || m.rank(m.operand(node, 0)) != 3 || m.rank(m.operand(node, 1)) != 2 || !m.is_constant(m.operand(node, 1))) return false;
  for (std::string_view turn : {"transA", "transB", "transBatchA", "transBatchB"})
    if (m.node(node).attributes.integer(turn, 0) != 0) return false;
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
    if (!m.operand(m.root(), k) || !product_of(m, k, found)) return m.refuse("queries, keys and values are not products of one value");
  if (found.widths[0] != found.widths[1] || found.widths[0] % heads != 0) return false;
  const double usual = 1 / std::sqrt(static_cast<double>(found.widths[0] / heads)), said = n.attributes.number("scale", 0);
  found.scale *= said == 0 ? usual : said;
  return m.keep(std::move(found));
}

bool to_attention(const Match& m, Rewriter& w) {
  const Products& found = m.kept<Products>();
  auto zeros = Tensor::make(DType::f32, {found.widths[0] + found.widths[1] + found.widths[2]});
  if (!zeros) return false;
  for (int64_t i = 0; i < zeros->count(); ++i) zeros->set_number(i, 0);
  const ValueId weights = w("Concat", {found.weights[0], found.weights[1], found.weights[2]}, {{"axis", int64_t{1}}});
  std::vector<ValueId> inputs{found.x, weights, w.constant(std::move(*zeros))};
  if (const ValueId scores = m.operand(m.root(), 5)) inputs.insert(inputs.end(), {ValueId{}, ValueId{}, scores});
  auto how = attributes_but(m.node(m.root()), {"scale"});
  how.emplace_back("scale", static_cast<float>(found.scale));
  if (found.widths[1] != found.widths[2]) how.emplace_back("qkv_hidden_sizes", found.widths);
  return give(m, w, w("com.microsoft::Attention", inputs, std::move(how)));
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
             .seeds = "Attention3D"},
        },
};

}  // namespace tenon::rules::onnxruntime_attention_products
