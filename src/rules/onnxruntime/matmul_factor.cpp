// SPDX-License-Identifier: Apache-2.0
// Products with one factor or divisor, before or behind them, in one op.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::onnxruntime_matmul_factor {
using namespace rewrite;

RULES(onnxruntime_matmul_factor) {
    .sets = "onnxruntime",
    .rules =
        {
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
        },
};

}  // namespace tenon::rules::onnxruntime_matmul_factor
