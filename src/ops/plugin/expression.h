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
/// A number or a field as an operand of a call becomes a scalar with the dtype of the first operand that is neither. A list of
/// numbers and of fields with one number becomes a tensor of rank 1: of i64 where all are integers, else of that dtype. A variadic operand
/// expands to all its values; an optional field that is missing makes the attribute or operand missing.
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

  /// Resolves names: to operands or to fields. All functions return nullopt (false) for an unknown name.
  struct Names {
    /// The value, which may be none; of a variadic operand all values.
    std::function<std::optional<std::vector<ir::ValueId>>(std::string_view)> operand;
    std::function<std::optional<ir::Attribute>(std::string_view)> field;
    std::function<bool(std::string_view)> is_left_out;  ///< the name is an optional field that is missing
  };
  /// Builds the nodes of the expression. Errors: the first error of the builder; bad_graph for an unknown name.
  Result<ir::ValueId> build(ir::Builder& build, const Names& names) const;

 private:
  Term root_;
};

}  // namespace tenon::ops
