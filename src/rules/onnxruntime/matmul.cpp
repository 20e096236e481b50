// SPDX-License-Identifier: Apache-2.0
// Products with transposed operands in one op.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::onnxruntime_matmul {
using namespace rewrite;

RULES(onnxruntime_matmul) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "matmul_left",
             .docs = "a left operand whose last two axes are exchanged before a product",
             .equation = "MatMul(Transpose(?a, perm=?p), ?b) => com.microsoft::FusedMatMul(?a, ?b, transA=1)"
                         " where dtype(?a) == f32, swaps_last(?p), rank(?b) >= 2",
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "FusedMatMul"},
            {.name = "matmul_right",
             .docs = "the same on the right",
             .equation = "MatMul(?a, Transpose(?b, perm=?p)) => com.microsoft::FusedMatMul(?a, ?b, transB=1)"
                         " where dtype(?a) == f32, swaps_last(?p), rank(?a) >= 2",
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "FusedMatMul"},
            {.name = "fused_matmul_left",
             .docs = "the same before a product that is fused already",
             .equation =
                 "com.microsoft::FusedMatMul(Transpose(?a, perm=?p), ?b, alpha=?s, transA=?t, transB=?u, transBatchA=0, transBatchB=0)"
                 " => com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=subtract(1, ?t), transB=?u) where swaps_last(?p), rank(?b) >= 2,"
                 " ?t == 0 or ?t == 1",
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "FusedMatMul"},
            {.name = "fused_matmul_right",
             .docs = "and there on the right",
             .equation =
                 "com.microsoft::FusedMatMul(?a, Transpose(?b, perm=?p), alpha=?s, transA=?t, transB=?u, transBatchA=0, transBatchB=0)"
                 " => com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=subtract(1, ?u)) where swaps_last(?p), rank(?a) >= 2,"
                 " ?u == 0 or ?u == 1",
             .benefit = 4,
             .allow_outside_uses = true,
             .covered_patterns = "FusedMatMul"},
        },
};

}  // namespace tenon::rules::onnxruntime_matmul
