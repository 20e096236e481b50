// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// The operand of the Cast whose result `value` is; none where it is the result of another op.
ir::ValueId operand_of_cast(const rewrite::GraphQuery& query, ir::ValueId value);

/// Whether every element of a small float constant is representable in `dtype`.
bool is_exact_in(const rewrite::GraphQuery& query, ir::ValueId constant, DType dtype);

/// A constant with the numbers of a small constant, in `dtype`.
ir::ValueId cast_constant(rewrite::Rewriter& w, const rewrite::GraphQuery& query, ir::ValueId constant, DType dtype);

ir::ValueId cast_to(rewrite::Rewriter& w, ir::ValueId value, DType dtype);

/// Whether `number` of a computation in `dtype` may become an attribute: attributes are f32, so that a number of f64 could lose digits.
bool fits_attribute(double number, DType dtype);

}  // namespace tenon::rules
