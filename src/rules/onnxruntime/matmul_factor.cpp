// SPDX-License-Identifier: Apache-2.0
// Products with one factor or divisor, before or behind them, in one op.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"

namespace tenon::rules::onnxruntime_matmul_factor {
using namespace rewrite;

namespace {

constexpr Rule behind_a_product(std::string_view name, std::string_view docs, std::string_view equation) {
  return {.name = name, .docs = docs, .equation = equation, .numerics = Numerics::reassociating, .benefit = 4, .seeds = "FusedMatMulDiv"};
}

/// Several products may share the factor.
constexpr Rule before_a_product(std::string_view name, std::string_view docs, std::string_view equation) {
  return {.name = name,
          .docs = docs,
          .equation = equation,
          .numerics = Numerics::reassociating,
          .benefit = 3,
          .shared = true,
          .seeds = "FusedMatMulx2"};
}

}  // namespace

RULES(onnxruntime_matmul_factor) {
    .sets = "onnxruntime",
    .rules =
        {
            behind_a_product("matmul_scale", "one factor or divisor behind a product",
                             "(Mul(MatMul(?a, ?b), ?c) | Mul(com.microsoft::FusedMatMul(?a, ?b, alpha=1, transA=0, transB=0, transBatchA=0,"
                             " transBatchB=0), ?c)) => com.microsoft::FusedMatMul(?a, ?b, alpha=value(?c))"
                             " where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0"),
            behind_a_product("matmul_divisor", "the same for a divisor",
                             "Div(MatMul(?a, ?b), ?c) => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(1, value(?c)))"
                             " where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0, value(?c) != 0"),
            behind_a_product("fused_matmul_scale", "the same behind a product that is fused already",
                             "Mul(com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=?u, transBatchA=?v, transBatchB=?w), ?c)"
                             " => com.microsoft::FusedMatMul(?a, ?b, alpha=multiply(?s, value(?c)), transA=?t, transB=?u, transBatchA=?v,"
                             " transBatchB=?w) where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0"),
            behind_a_product("fused_matmul_divisor", "and there for a divisor",
                             "Div(com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=?u, transBatchA=?v, transBatchB=?w), ?c)"
                             " => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(?s, value(?c)), transA=?t, transB=?u, transBatchA=?v,"
                             " transBatchB=?w) where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0, value(?c) != 0"),
            before_a_product(
                "matmul_operand_factor", "a factor before a product, which several products may share, becomes the factor of each",
                "(MatMul(Mul(?a, ?c), ?b) | com.microsoft::FusedMatMul(Mul(?a, ?c), ?b, alpha=1, transA=0, transB=0, transBatchA=0,"
                " transBatchB=0)) => com.microsoft::FusedMatMul(?a, ?b, alpha=value(?c))"
                " where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0, rank(?a) >= 2"),
            before_a_product("matmul_operand_divisor", "the same for a divisor",
                             "MatMul(Div(?a, ?c), ?b) => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(1, value(?c)))"
                             " where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0, rank(?a) >= 2, value(?c) != 0"),
            before_a_product(
                "fused_matmul_operand_divisor", "and before a product that is fused already",
                "com.microsoft::FusedMatMul(Div(?a, ?c), ?b, alpha=?s, transA=?t, transB=?u, transBatchA=?v, transBatchB=?w)"
                " => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(?s, value(?c)), transA=?t, transB=?u, transBatchA=?v,"
                " transBatchB=?w) where dtype(?a) == f32, constant(?c), finite(?c), rank(?c) == 0, rank(?a) >= 2, value(?c) != 0"),
        },
};

}  // namespace tenon::rules::onnxruntime_matmul_factor
