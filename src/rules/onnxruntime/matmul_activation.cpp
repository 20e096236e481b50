// SPDX-License-Identifier: Apache-2.0
// Products with the activation after them, in ops that ONNX Runtime has kernels for on other devices than CPU and CUDA.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::onnxruntime_matmul_activation {
using namespace rewrite;
namespace {

bool after_product(Match& m) {
  const ValueId y = m.operand(m.root(), 0);
  if (!m.take(y, "MatMul") && !m.take(y, "com.microsoft::FusedMatMul")) return false;
  return m.dtype(y) == DType::f32 || m.dtype(y) == DType::f16 || m.refuse("neither in f32 nor in f16");
}

bool to_activated(const Match& m, Rewriter& w) {
  const Node &root = m.node(m.root()), &product = m.node(m.nodes[1]);
  auto how = attributes_except(product, {});
  how.emplace_back("activation", std::string(root.op->name));
  const bool hard = root.is("HardSigmoid");
  if (hard || root.is("LeakyRelu")) how.emplace_back("activation_alpha", root.attributes.number("alpha", hard ? 0.2f : 0.01f));
  if (hard) how.emplace_back("activation_beta", root.attributes.number("beta", 0.5f));
  return replace_root(m, w, w("com.microsoft::FusedMatMulActivation", product.inputs, std::move(how)));
}

}  // namespace

RULES(onnxruntime_matmul_activation) {
    .sets = "onnxruntime_other",
    .rules =
        {
            {.name = "matmul_activation",
             .docs = "an activation after a product",
             .roots = "Relu Tanh Sigmoid LeakyRelu HardSigmoid",
             .match = after_product,
             .rewrite = to_activated,
             .benefit = 3,
             .covered_patterns = "FusedMatMulActivation"},
            {.name = "gemm_fast_gelu_add",
             .docs = "FastGelu after a product and a row that is added to it",
             .equation = "com.microsoft::FastGelu(Add(MatMul(?a, ?b), ?c)) => com.microsoft::GemmFastGelu(?a, ?b, ?c)"
                         " where rank(?b) >= 2, suffix(?c, ?b)",
             .benefit = 4,
             .covered_patterns = "GemmFastGelu"},
            {.name = "gemm_fast_gelu_bias",
             .docs = "FastGelu with a row of its own after a product",
             .equation = "com.microsoft::FastGelu(MatMul(?a, ?b), ?c) => com.microsoft::GemmFastGelu(?a, ?b, ?c)"
                         " where rank(?b) >= 2, suffix(?c, ?b)",
             .benefit = 3,
             .covered_patterns = "GemmFastGelu"},
            {.name = "gemm_fast_gelu",
             .docs = "FastGelu right after a product",
             .equation = "com.microsoft::FastGelu(MatMul(?a, ?b)) => com.microsoft::GemmFastGelu(?a, ?b)",
             .benefit = 3,
             .covered_patterns = "GemmFastGelu"},
        },
};

}  // namespace tenon::rules::onnxruntime_matmul_activation
