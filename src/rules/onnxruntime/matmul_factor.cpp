// SPDX-License-Identifier: Apache-2.0
// Products with one factor or divisor, before or behind them, in one op.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/give_back.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::onnxruntime_matmul_factor {
using namespace rewrite;

namespace {

constexpr Rule behind_a_product(std::string_view name, std::string_view docs, std::string_view equation) {
  return {.name = name, .docs = docs, .equation = equation, .numerics = Numerics::reassociating, .benefit = 4, .seeds = "FusedMatMulDiv"};
}

/// An operand of a product: `views` of data * factor, outermost first.
struct Factor {
  size_t side;
  ValueId data;
  double factor;
  std::vector<NodeId> views;
};

/// The number that `node`, a Mul or Div, multiplies `data` by, where that has the type of the result.
std::optional<double> factor_of(const Match& m, NodeId node, ValueId& data) {
  const bool divides = m.node(node).is("Div");
  for (size_t k : {1, 0}) {
    const ValueId c = m.operand(node, k);
    const auto number = (divides && k == 0) || !m.is_constant(c) ? std::nullopt : m.number(c);
    data = m.operand(node, 1 - k);
    if (number && std::isfinite(*number) && (!divides || *number != 0) && m.same_type(data, m.result(node)))
      return divides ? 1 / *number : *number;
  }
  return std::nullopt;
}

std::optional<Factor> factor_below(const Match& m, size_t side) {
  Factor found{side, m.operand(m.root(), side), 1, {}};
  if (m.dtype(found.data) != DType::f32 || m.rank(found.data).value_or(0) < 2) return std::nullopt;
  for (int depth = 0; depth < 8; ++depth) {
    const NodeId node = m.producer(found.data);
    if (!node) return std::nullopt;
    if (m.node(node).is("Mul") || m.node(node).is("Div")) {
      const auto factor = factor_of(m, node, found.data);
      found.factor = factor.value_or(1);
      return factor ? std::optional(found) : std::nullopt;
    }
    if ((!is_reshape(m.node(node)) && !m.node(node).is("Transpose")) || m.use_count(found.data) != 1) return std::nullopt;
    found.views.push_back(node);
    found.data = m.operand(node, 0);
  }
  return std::nullopt;
}

bool operand_factor(Match& m) {
  for (size_t side : {0, 1})
    if (auto found = factor_below(m, side)) return m.keep(std::move(*found));
  return false;
}

bool to_alpha(const Match& m, Rewriter& w) {
  const Factor& found = m.kept<Factor>();
  const Node& product = m.node(m.root());
  ValueId x = found.data;
  for (auto view = found.views.rbegin(); view != found.views.rend(); ++view) {
    std::vector<ValueId> inputs = m.node(*view).inputs;
    inputs[0] = x;
    x = w.again(*view, inputs)[0];
  }
  std::vector<ValueId> inputs = product.inputs;
  inputs[found.side] = x;
  auto how = attributes_but(product, {"alpha"});
  how.emplace_back("alpha", static_cast<float>(found.factor * product.attributes.number("alpha", 1)));
  return give(m, w, w("com.microsoft::FusedMatMul", inputs, std::move(how)));
}

}  // namespace

RULES(onnxruntime_matmul_factor) {
    .sets = "onnxruntime",
    .rules =
        {
            behind_a_product("matmul_scale", "one factor or divisor behind a product",
                             "(Mul(MatMul(?a, ?b), ?c) | Mul(com.microsoft::FusedMatMul(?a, ?b, alpha=1, transA=0, transB=0, transBatchA=0,"
                             " transBatchB=0), ?c)) => com.microsoft::FusedMatMul(?a, ?b, alpha=value(?c))"
                             " where dtype(?a) == f32, constant(?c), finite(?c), size(?c) == 1, rank(?c) == 0 or rank(?c) < rank(?a)"),
            behind_a_product(
                "matmul_divisor", "the same for a divisor",
                "Div(MatMul(?a, ?b), ?c) => com.microsoft::FusedMatMul(?a, ?b, alpha=divide(1, value(?c)))"
                " where dtype(?a) == f32, constant(?c), finite(?c), size(?c) == 1, rank(?c) == 0 or rank(?c) < rank(?a), value(?c) != 0"),
            behind_a_product(
                "fused_matmul_scale", "the same behind a product that is fused already",
                "Mul(com.microsoft::FusedMatMul(?a, ?b, alpha=?s, transA=?t, transB=?u, transBatchA=?v, transBatchB=?w), ?c)"
                " => com.microsoft::FusedMatMul(?a, ?b, alpha=multiply(?s, value(?c)), transA=?t, transB=?u, transBatchA=?v,"
                " transBatchB=?w) where dtype(?a) == f32, constant(?c), finite(?c), size(?c) == 1, rank(?c) == 0 or rank(?c) < rank(?a)"),
            behind_a_product(
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
             .shared = true,
             .seeds = "FusedMatMulx2 FusedMatMulDiv"},
        },
};

}  // namespace tenon::rules::onnxruntime_matmul_factor
