// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

/// The definition of an op as a formula: calls of ops over operands and fields by name, and numbers.
///
///   Mul(x, Sigmoid(Mul(x, beta)))          Softmax(x, axis=axis)          com.microsoft::Gelu(Add(x, 1))
///
/// A number, and a field, among the operands of a call is a scalar of the dtype of the first operand there that is neither.
class Expression {
 public:
  struct Term {
    enum class Kind : uint8_t { call, name, number, text, list } kind = Kind::call;
    std::string text;  ///< call: the op, "domain::Op"; name; text
    double number = 0;
    std::vector<Term> terms;                                    ///< operands of a call, elements of a list
    std::vector<std::pair<std::string, Term>> attributes = {};  ///< of a call
  };
  /// Errors: bad_graph, with the column.
  static Result<Expression> parse(std::string_view text);

  /// What a name is there. Of a name that is none of them, both give none.
  struct Names {
    std::function<std::optional<ir::ValueId>(std::string_view)> operand;
    std::function<std::optional<ir::Attribute>(std::string_view)> field;
  };
  /// Builds it. Errors: those of the builder, which keeps the first; bad_graph for a name that nothing has.
  Result<ir::ValueId> build(ir::Builder& build, const Names& names) const;

 private:
  Term root_;
};

}  // namespace tenon::ops
