// SPDX-License-Identifier: Apache-2.0
// Products with one factor or divisor, before or after them, in one op.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/scaled_view.h"

namespace tenon::rules::onnxruntime_matmul_factor {
using namespace rewrite;

namespace {

constexpr Rule factor_after_product(std::string_view name, std::string_view docs, std::string_view equation) {
  return {.name = name,
          .docs = docs,
          .equation = equation,
          .numerics = Numerics::reassociating,
          .benefit = 4,
          .covered_patterns = "FusedMatMulDiv"};
}

struct Factor {
  size_t side;
  ScaledView operand;
};

bool operand_factor(Match& m) {
  for (size_t side : {0, 1}) {
    const ValueId value = m.operand(m.root(), side);
    if (m.dtype(value) != DType::f32 || m.rank(value).value_or(0) < 2) continue;
    if (ScaledView found = scaled_view_of(m, value); found.factor != 1) return m.accept(Factor{side, std::move(found)});
  }
  return false;
}

bool to_alpha(const Match& m, Rewriter& w) {
  const auto& [side, operand] = m.state<Factor>();
  const Node& product = m.node(m.root());
  std::vector<ValueId> inputs = product.inputs;
  inputs[side] = clone_views(w, m, operand.views, operand.data);
  auto how = attributes_except(product, {"alpha"});
  how.emplace_back("alpha", static_cast<float>(operand.factor * product.attributes.number("alpha", 1)));
  return replace_root(m, w, w("com.microsoft::FusedMatMul", inputs, std::move(how)));
}

}  // namespace

RULES(onnxruntime_matmul_factor) {
    .sets = "onnxruntime",
    .rules =
        {
            factor_after_product(
                "matmul_scale", "one factor or divisor after a product",
                "(Mul(MatMul(?a, ?b), ?c) | Mul(com.microsoft::FusedMatMul(?a, ?b, alpha=1, transA=0, transB=0, transBatchA=0,"
                " transBatchB=0), ?c)) => com.microsoft::FusedMatMul(?a, ?b, alpha=value(?c))"
                " where dtype(?a) == f32, constant(?c), finite(?c), size(?c) == 1, rank(?c) == 0 or rank(?c) < rank(?a)"),
            factor_after_product(
                "matmul_divisor", "the same for a divisor",
                "Div(MatMul(?a, ?b), ?c) => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(1, value(?c)))"
                " where dtype(?a) == f32, constant(?c), finite(?c), size(?c) == 1, rank(?c) == 0 or rank(?c) < rank(?a), value(?c) != 0"),
            factor_after_product(
                "fused_matmul_scale", "the same after a product that is fused already",
                "Mul(com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=?u, transBatchA=?v, transBatchB=?w), ?c)"
                " => com.microsoft::FusedMatMul(?a, ?b, alpha=multiply(?s, value(?c)), transA=?t, transB=?u, transBatchA=?v,"
                " transBatchB=?w) where dtype(?a) == f32, constant(?c), finite(?c), size(?c) == 1, rank(?c) == 0 or rank(?c) < rank(?a)"),
            factor_after_product(
                "fused_matmul_divisor", "and there for a divisor",
                "Div(com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=?u, transBatchA=?v, transBatchB=?w), ?c)"
                " => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(?s, value(?c)), transA=?t, transB=?u, transBatchA=?v,"
                " transBatchB=?w) where dtype(?a) == f32, constant(?c), finite(?c), size(?c) == 1, rank(?c) == 0 or rank(?c) < rank(?a), value(?c) != 0"),
            {.name = "matmul_operand_factor",
             .docs = "a factor or divisor before a product, below reshapes and transposes too; several products may share it",
             .roots = "MatMul com.microsoft::FusedMatMul",
             .match = operand_factor,
             .rewrite = to_alpha,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .allow_outside_uses = true,
             .covered_patterns = "FusedMatMulx2 FusedMatMulDiv"},
        },
};

}  // namespace tenon::rules::onnxruntime_matmul_factor
