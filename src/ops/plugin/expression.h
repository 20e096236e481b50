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
/// A number, and a field, among the operands of a call is a scalar of the dtype of the first operand there that is neither. A list of
/// numbers and of fields that are one is a tensor of rank 1: of i64 where all are whole, else of that dtype. An operand of any number
/// stands for all of them, a field that is left out for an attribute or operand that is.
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

  /// What a name is there. Of a name that is none of them, all give none.
  struct Names {
    /// One value, which may be none; of an operand of any number all.
    std::function<std::optional<std::vector<ir::ValueId>>(std::string_view)> operand;
    std::function<std::optional<ir::Attribute>(std::string_view)> field;
    std::function<bool(std::string_view)> is_left_out;  ///< a field that may be, and is
  };
  /// Builds it. Errors: those of the builder, which keeps the first; bad_graph for a name that nothing has.
  Result<ir::ValueId> build(ir::Builder& build, const Names& names) const;

 private:
  Term root_;
};

}  // namespace tenon::ops
