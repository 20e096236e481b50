// SPDX-License-Identifier: Apache-2.0
// Products with what stands around them in one op: transposed operands, a factor, a transposed result.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::onnxruntime_matmul {
using namespace rewrite;

RULES(onnxruntime_matmul) {
    .sets = "onnxruntime",
    .rules =
        {
            {.name = "ort_matmul_left",
             .docs = "a left operand whose last two axes are exchanged before a product",
             .equation = "MatMul(Transpose(?a, perm=?p), ?b) => com.microsoft::FusedMatMul(?a, ?b, transA=1)"
                         " where dtype(?a) == f32, swaps_last(?p), rank(?b) >= 2",
             .benefit = 4,
             .shared = true,
             .seeds = "FusedMatMul"},
            {.name = "ort_matmul_right",
             .docs = "the same on the right",
             .equation = "MatMul(?a, Transpose(?b, perm=?p)) => com.microsoft::FusedMatMul(?a, ?b, transB=1)"
                         " where dtype(?a) == f32, swaps_last(?p), rank(?a) >= 2",
             .benefit = 4,
             .shared = true,
             .seeds = "FusedMatMul"},
            {.name = "ort_fused_matmul_left",
             .docs = "the same before a product that is fused already",
             .equation =
                 "com.microsoft::FusedMatMul(Transpose(?a, perm=?p), ?b, alpha=?s, transA=?t, transB=?u, transBatchA=0, transBatchB=0)"
                 " => com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=subtract(1, ?t), transB=?u) where swaps_last(?p), rank(?b) >= 2,"
                 " ?t == 0 or ?t == 1",
             .benefit = 4,
             .shared = true,
             .seeds = "FusedMatMul"},
            {.name = "ort_fused_matmul_right",
             .docs = "and there on the right",
             .equation =
                 "com.microsoft::FusedMatMul(?a, Transpose(?b, perm=?p), alpha=?s, transA=?t, transB=?u, transBatchA=0, transBatchB=0)"
                 " => com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=subtract(1, ?u)) where swaps_last(?p), rank(?a) >= 2,"
                 " ?u == 0 or ?u == 1",
             .benefit = 4,
             .shared = true,
             .seeds = "FusedMatMul"},
            {.name = "ort_matmul_scale",
             .docs = "one factor or divisor behind a product",
             .equation = "(Mul(MatMul(?a, ?b), ?c) | Mul(com.microsoft::FusedMatMul(?a, ?b, alpha=1, transA=0, transB=0, transBatchA=0,"
                         " transBatchB=0), ?c)) => com.microsoft::FusedMatMul(?a, ?b, alpha=value(?c))"
                         " where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0",
             .numerics = Numerics::reassociating,
             .benefit = 4,
             .seeds = "FusedMatMulDiv"},
            {.name = "ort_matmul_divisor",
             .docs = "the same for a divisor",
             .equation = "Div(MatMul(?a, ?b), ?c) => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(1, value(?c)))"
                         " where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0, value(?c) != 0",
             .numerics = Numerics::reassociating,
             .benefit = 4,
             .seeds = "FusedMatMulDiv"},
            {.name = "ort_fused_matmul_scale",
             .docs = "the same behind a product that is fused already",
             .equation = "Mul(com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=?u, transBatchA=?v, transBatchB=?w), ?c)"
                         " => com.microsoft::FusedMatMul(?a, ?b, alpha=multiply(?s, value(?c)), transA=?t, transB=?u, transBatchA=?v,"
                         " transBatchB=?w) where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0",
             .numerics = Numerics::reassociating,
             .benefit = 4,
             .seeds = "FusedMatMulDiv"},
            {.name = "ort_fused_matmul_divisor",
             .docs = "and there for a divisor",
             .equation = "Div(com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=?u, transBatchA=?v, transBatchB=?w), ?c)"
                         " => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(?s, value(?c)), transA=?t, transB=?u, transBatchA=?v,"
                         " transBatchB=?w) where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0, value(?c) != 0",
             .numerics = Numerics::reassociating,
             .benefit = 4,
             .seeds = "FusedMatMulDiv"},
            {.name = "ort_matmul_operand_factor",
             .docs = "a factor before a product, which several products may share, becomes the factor of each",
             .equation =
                 "(MatMul(Mul(?a, ?c), ?b) | com.microsoft::FusedMatMul(Mul(?a, ?c), ?b, alpha=1, transA=0, transB=0, transBatchA=0,"
                 " transBatchB=0)) => com.microsoft::FusedMatMul(?a, ?b, alpha=value(?c))"
                 " where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0, rank(?a) >= 2",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .shared = true,
             .seeds = "FusedMatMulx2"},
            {.name = "ort_matmul_operand_divisor",
             .docs = "the same for a divisor",
             .equation = "MatMul(Div(?a, ?c), ?b) => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(1, value(?c)))"
                         " where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0, rank(?a) >= 2, value(?c) != 0",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .shared = true,
             .seeds = "FusedMatMulx2"},
            {.name = "ort_fused_matmul_operand_divisor",
             .docs = "and before a product that is fused already",
             .equation = "com.microsoft::FusedMatMul(Div(?a, ?c), ?b, alpha=?s, transA=?t, transB=?u, transBatchA=?v, transBatchB=?w)"
                         " => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(?s, value(?c)), transA=?t, transB=?u, transBatchA=?v,"
                         " transBatchB=?w) where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0, rank(?a) >= 2, value(?c) != 0",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .shared = true,
             .seeds = "FusedMatMulx2"},
            {.name = "ort_matmul_result",
             .docs = "the transposed product is the product of the transposed operands in the other order",
             .equation = "Transpose(MatMul(?a, ?b), perm=?p) => com.microsoft::FusedMatMul(?b, ?a, transA=1, transB=1)"
                         " where dtype(?a) == f32, swaps_last(?p), rank(?a) >= 2, rank(?b) >= 2",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .seeds = "FusedMatMulTranspose"},
            {.name = "ort_fused_matmul_result",
             .docs = "the same for a product that is fused already",
             .equation =
                 "Transpose(com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=?u, transBatchA=0, transBatchB=0), perm=?p)"
                 " => com.microsoft::FusedMatMul(?b, ?a, alpha=?s, transA=subtract(1, ?u), transB=subtract(1, ?t))"
                 " where swaps_last(?p), rank(?a) >= 2, rank(?b) >= 2, ?t == 0 or ?t == 1, ?u == 0 or ?u == 1",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .seeds = "FusedMatMulTranspose"},
            {.name = "ort_matmul_heads_right",
             .docs = "keys turned to [batch, heads, size, keys] for a product: turned as values are, the rest is the product's",
             .equation =
                 "MatMul(?a, Transpose(?b, perm=[0,2,3,1])) => com.microsoft::FusedMatMul(?a, Transpose(?b, perm=[0,2,1,3]), transB=1)"
                 " where dtype(?a) == f32, rank(?a) == 4",
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .seeds = "TransposeFusedMatMulB"},
        },
};

}  // namespace tenon::rules::onnxruntime_matmul
