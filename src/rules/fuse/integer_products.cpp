// SPDX-License-Identifier: Apache-2.0
// Products of dequantized tensors are products of integers, times both scales: sum((x - zx) * sx * (w - zw) * sw) is
// sx * sw * sum((x - zx) * (w - zw)) where neither scale changes along the sum.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/casts.h"
#include "rules/helpers/dequantized.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::fuse_integer_products {
using namespace rewrite;
namespace {

/// The most products of differences of bytes whose sum is certain to fit an i32.
constexpr int64_t kMostProducts = 33025;

struct Factors {
  Dequantized x, w;
  bool transposed = false;  ///< the weights are transposed first
};

bool sum_fits(const Match& m, ValueId weights, int output_axis) {
  const DimList& shape = *m.shape(weights);
  Dim products = 1;
  for (int d = 0; d < static_cast<int>(shape.size()); ++d)
    if (d != output_axis) products = products * shape[d];
  return products.is_number() && products.value() <= kMostProducts;
}

bool factors_of(Match& m, ValueId weights, int output_axis, bool transposed) {
  const auto x = dequantized_per_tensor(m, m.operand(m.root(), 0));
  if (!x) return m.refuse("operand 0 is no dequantized tensor of 8 bits with one scale", m.operand(m.root(), 0));
  const auto w = dequantized_weights(m, weights, output_axis);
  if (!w) return m.refuse("operand 1 is no dequantized constant of 8 bits with scales for outputs", m.operand(m.root(), 1));
  if (!sum_fits(m, w->data, output_axis)) return m.refuse("so many products of bytes might not fit into an i32");
  return m.accept(Factors{*x, *w, transposed});
}

bool conv(Match& m) { return factors_of(m, m.operand(m.root(), 1), 0, false); }

bool matmul(Match& m) {
  const ValueId weights = m.operand(m.root(), 1);
  if (m.rank(weights) != 2) return m.refuse("operand 1 is no matrix");
  const NodeId transpose = m.producer(weights, "Transpose");
  const bool transposed = transpose && m.ints(transpose, "perm") == ir::Ints{1, 0};
  return factors_of(m, transposed ? m.operand(transpose, 0) : weights, transposed ? 0 : 1, transposed);
}

bool gemm(Match& m) {
  const auto& how = m.node(m.root()).attributes;
  if (how.integer("transA", 0) != 0 || how.number("alpha", 1) != 1 || how.number("beta", 1) != 1)
    return m.refuse("not a plain product with a bias");
  const bool transposed = how.integer("transB", 0) != 0;
  return factors_of(m, m.operand(m.root(), 1), transposed ? 0 : 1, transposed);
}

/// The operands of the op on integers, without missing zero points.
std::vector<ValueId> operands_of(const Factors& f, ValueId weights) {
  std::vector<ValueId> out{f.x.data, weights, f.x.zero, f.w.zero};
  while (!out.back()) out.pop_back();
  return out;
}

ValueId scaled(const Match& m, Rewriter& w, ValueId sum, const std::vector<ValueId>& shape) {
  const Factors& f = m.state<Factors>();
  ValueId scale = w("Mul", {f.x.scale, f.w.scale});
  if (!shape.empty()) scale = w("Reshape", {scale, shape[0]});
  return w("Mul", {cast_to(w, sum, DType::f32), scale});
}

/// [channels] or one number as it broadcasts along axis 1 of a value of that rank.
ValueId along_channels(Rewriter& w, int rank) {
  std::vector<int64_t> shape(static_cast<size_t>(rank) - 1, 1);
  shape[0] = -1;
  return w.ints(std::move(shape));
}

bool integer_conv(const Match& m, Rewriter& w) {
  const Factors& f = m.state<Factors>();
  const Node& node = m.node(m.root());
  const ValueId sum = w("ConvInteger", operands_of(f, f.w.data), attributes_except(node, {}));
  const ValueId shape = along_channels(w, *m.rank(f.w.data));
  ValueId y = scaled(m, w, sum, {shape});
  if (const ValueId bias = m.operand(m.root(), 2)) y = w("Add", {y, w("Reshape", {bias, shape})});
  return replace_root(m, w, y);
}

bool integer_matmul(const Match& m, Rewriter& w) {
  const Factors& f = m.state<Factors>();
  const ValueId weights = f.transposed ? w("Transpose", {f.w.data}, {{"perm", ir::Ints{1, 0}}}) : f.w.data;
  ValueId y = scaled(m, w, w("MatMulInteger", operands_of(f, weights)), {});
  if (const ValueId bias = m.operand(m.root(), 2)) y = w("Add", {y, bias});
  return replace_root(m, w, y);
}

}  // namespace

RULES(fuse_integer_products) {
    .rules =
        {
            {.name = "integer_conv",
             .docs =
                 "a convolution of dequantized bytes with dequantized constant bytes is one of integers, times both scales (an infinite "
                 "scale may give an infinity where it gave NaN)",
             .roots = "Conv",
             .match = conv,
             .rewrite = integer_conv,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 7},
            {.name = "integer_matmul",
             .docs = "a product of dequantized bytes with a dequantized constant matrix of bytes is one of integers, times both scales (an "
                     "infinite scale may give an infinity where it gave NaN)",
             .roots = "MatMul",
             .match = matmul,
             .rewrite = integer_matmul,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 7},
            {.name = "integer_gemm",
             .docs = "the same of a Gemm",
             .roots = "Gemm",
             .match = gemm,
             .rewrite = integer_matmul,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 7},
        },
};

}  // namespace tenon::rules::fuse_integer_products
