// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/expr/expr.h"
#include "base/result.h"

namespace tenon::inline base {

/// Dtypes that the text of an expression omits, because its reader has them from the context.
struct ExprTypes {
  DType result = DType::none;          ///< of the whole expression; none: the reader does not have it
  std::span<const DType> inputs = {};  ///< of inputs 0, 1, ...; the reader does not have those of further ones
};

/// Of an expression as `Expr::text()` writes it, with a dtype where nothing else determines it: "add(x0, 1)" of f32 inputs,
/// "cast(1:i64, f32)", "less(x3:i32, 2)". Operands, `types` and casts determine the dtypes of bare numbers.
std::string text_of(const Expr& e, const ExprTypes& types);

/// Reads an expression from text[at] on and leaves `at` behind it, or at the fault. Dtypes of operands must agree. Brackets hold sizes over
/// `symbols`. Errors: bad_graph, without a place. Limits: 500 levels of nesting. Cost: linear in the text, times the nesting where numbers
/// alone are nested.
Result<Expr> parse_expr(std::string_view text, size_t& at, Symbols& symbols, const ExprTypes& types);

/// Whether the operator, whose operands have one dtype, gives bool; whether it takes bools.
bool gives_bool(ExprOp op);
bool takes_bools(ExprOp op);

}  // namespace tenon::inline base
