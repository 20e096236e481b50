// SPDX-License-Identifier: Apache-2.0
#include "base/expr/evaluate.h"

#include <unordered_map>

#include "base/scalar.h"

namespace tenon::inline base {
namespace {

struct Evaluation {
  const ScalarEnvironment& env;
  bool round;
  std::unordered_map<const ExprNode*, Scalar> shared;

  Scalar leaf(const ExprNode& node) const {
    switch (node.op) {
      case ExprOp::axis: return {0, env.axis(node.index)};
      case ExprOp::dim: return {0, env.dim(node.size)};
      case ExprOp::input:
        if (is_float(node.dtype)) return {env.input_number(node.index), 0};
        return {0, wrap_integer(node.dtype, env.input_integer(node.index))};
      default: return {round && is_float(node.dtype) ? round_to(node.dtype, node.float_value) : node.float_value, node.int_value};
    }
  }

  Scalar inner(const ExprNode& node) {
    Scalar values[3];
    for (size_t i = 0; i < node.args.size(); ++i) values[i] = of(node.args[i]);
    return apply(node.op, node.args.back().dtype(), node.dtype, values[0], values[1], values[2], round);
  }

  /// Operands that several operators share are computed once: a chain of squares would take exponential time otherwise.
  Scalar of(const Expr& e) {
    if (e.op() <= ExprOp::dim) return leaf(*e);
    const auto [at, is_new] = shared.try_emplace(e.get());
    if (!is_new) return at->second;
    const Scalar value = inner(*e);
    shared[e.get()] = value;
    return value;
  }
};

}  // namespace

Scalar evaluate(const Expr& e, const ScalarEnvironment& env, bool round) { return Evaluation{env, round, {}}.of(e); }

}  // namespace tenon::inline base
