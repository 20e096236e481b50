// SPDX-License-Identifier: Apache-2.0
// Products transposed as a whole: a transposed result, and keys that are transposed like values.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::onnxruntime_matmul_transposed {
using namespace rewrite;

RULES(onnxruntime_matmul_transposed) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "matmul_result",
             .docs = "the transposed product is the product of the transposed operands in the other order",
             .equation = "Transpose(MatMul(?a, ?b), perm=?p) => com.microsoft::FusedMatMul(?b, ?a, transA=1, transB=1)"
                         " where dtype(?a) == f32, swaps_last(?p), rank(?a) >= 2, rank(?b) >= 2",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "FusedMatMulTranspose"},
            {.name = "fused_matmul_result",
             .docs = "the same for a product that is fused already",
             .equation =
                 "Transpose(com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=?u, transBatchA=0, transBatchB=0), perm=?p)"
                 " => com.microsoft::FusedMatMul(?b, ?a, alpha=?s, transA=subtract(1, ?u), transB=subtract(1, ?t))"
                 " where swaps_last(?p), rank(?a) >= 2, rank(?b) >= 2, ?t == 0 or ?t == 1, ?u == 0 or ?u == 1",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "FusedMatMulTranspose"},
            {.name = "matmul_heads_right",
             .docs = "keys transposed to [batch, heads, size, keys] for a product: transposed like values, the product transposes the rest",
             .equation =
                 "MatMul(?a, Transpose(?b, perm=[0,2,3,1])) => com.microsoft::FusedMatMul(?a, Transpose(?b, perm=[0,2,1,3]), transB=1)"
                 " where dtype(?a) == f32, rank(?a) == 4",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "TransposeFusedMatMulB"},
        },
};

}  // namespace tenon::rules::onnxruntime_matmul_transposed
