// SPDX-License-Identifier: Apache-2.0
// Products of matrices as Gemm, which takes transposed operands and a summand. For runtimes that have a kernel for it: Tenon's own form
// is MatMul and Add, so these rules run last and alone.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::onnxruntime_gemm_form {
using namespace rewrite;
namespace {

struct Sum {
  NodeId product;
  ValueId summand;
};

/// MatMul of two matrices, or a Gemm, plus what broadcasts to its result.
bool matrix_sum(Match& m) {
  const DType dtype = m.dtype(m.result(m.root()));
  if (!is_arithmetic_float(dtype)) return false;
  for (size_t slot : {0, 1}) {
    const ValueId value = m.operand(m.root(), slot), summand = m.operand(m.root(), 1 - slot);
    const NodeId matmul = m.producer(value, "MatMul"), product = matmul ? matmul : m.producer(value, "Gemm");
    const DimList *matrix = m.shape(value), *added = m.shape(summand);
    if (!product || m.operand(product, 2) || !matrix || !added) continue;
    if (m.rank(m.operand(product, 0)) != 2 || m.rank(m.operand(product, 1)) != 2 || !broadcasts_to(*added, *matrix)) continue;
    m.take(product);
    return m.accept(Sum{product, summand});
  }
  return false;
}

bool to_gemm(const Match& m, Rewriter& w) {
  const Sum& found = m.state<Sum>();
  const std::vector<ValueId> inputs{m.operand(found.product, 0), m.operand(found.product, 1), found.summand};
  return replace_root(m, w, w("Gemm", inputs, attributes_except(m.node(found.product), {"beta"})));
}

bool plain_weight(Match& m) {
  const ValueId weight = m.operand(m.root(), 1);
  if (!m.is_constant(weight) || m.node(m.root()).attributes.integer("transB", 0) != 0 || m.rank(weight) != 2) return false;
  return m.use_count(weight) == 1 || m.refuse("the weights have another user");
}

bool store_transposed(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  inputs[1] = w.constant(ir::permute(m.value(inputs[1]).constant, {1, 0}));
  auto attributes = attributes_except(m.node(m.root()), {"transB"});
  attributes.emplace_back("transB", int64_t{1});
  return replace_root(m, w, w("Gemm", inputs, std::move(attributes)));
}

}  // namespace

RULES(onnxruntime_gemm_form) {
    .sets = "default",
    .rules =
        {
            {.name = "matmul_add_gemm",
             .docs = "a product of two matrices plus what broadcasts to it is Gemm",
             .roots = "Add",
             .match = matrix_sum,
             .rewrite = to_gemm,
             .numerics = Numerics::reassociating,
             .benefit = 5,
             .covered_patterns = "MatMulAdd"},
            {.name = "gemm_weight",
             .docs = "constant weights of Gemm are stored transposed",
             .roots = "Gemm",
             .match = plain_weight,
             .rewrite = store_transposed,
             .benefit = 1,
             .covered_patterns = "GemmTranspose"},
            {.name = "matmul_transposed_left",
             .docs = "MatMul of a transposed matrix is Gemm with transA",
             .equation = "MatMul(Transpose(?a, perm=[1,0]), ?b) => Gemm(?a, ?b, transA=1) where rank(?b) == 2",
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "TransposeMatMul"},
            {.name = "matmul_transposed_right",
             .docs = "MatMul with a transposed matrix is Gemm with transB",
             .equation = "MatMul(?a, Transpose(?b, perm=[1,0])) => Gemm(?a, ?b, transB=1) where rank(?a) == 2",
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "TransposeMatMul"},
            {.name = "gemm_transposed_left",
             .docs = "a Transpose before the left operand of Gemm is its flag",
             .equation = "Gemm(Transpose(?a, perm=[1,0]), ?b, ?c?, alpha=?f, beta=?g, transA=0, transB=?t)"
                         " => Gemm(?a, ?b, ?c, alpha=?f, beta=?g, transA=1, transB=?t)",
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "TransposeMatMul"},
            {.name = "gemm_untransposed_left",
             .docs = "a Transpose before the left operand of Gemm, which transposes it back",
             .equation = "Gemm(Transpose(?a, perm=[1,0]), ?b, ?c?, alpha=?f, beta=?g, transA=1, transB=?t)"
                         " => Gemm(?a, ?b, ?c, alpha=?f, beta=?g, transA=0, transB=?t)",
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "TransposeMatMul"},
            {.name = "gemm_transposed_right",
             .docs = "a Transpose before the right operand of Gemm is its flag",
             .equation = "Gemm(?a, Transpose(?b, perm=[1,0]), ?c?, alpha=?f, beta=?g, transA=?t, transB=0)"
                         " => Gemm(?a, ?b, ?c, alpha=?f, beta=?g, transA=?t, transB=1)",
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "TransposeMatMul"},
            {.name = "gemm_untransposed_right",
             .docs = "a Transpose before the right operand of Gemm, which transposes it back",
             .equation = "Gemm(?a, Transpose(?b, perm=[1,0]), ?c?, alpha=?f, beta=?g, transA=?t, transB=1)"
                         " => Gemm(?a, ?b, ?c, alpha=?f, beta=?g, transA=?t, transB=0)",
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "TransposeMatMul"},
        },
};

}  // namespace tenon::rules::onnxruntime_gemm_form
