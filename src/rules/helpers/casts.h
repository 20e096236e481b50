// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// What the Cast that makes `value` casts; none where another op makes it.
ir::ValueId before_cast(const rewrite::GraphQuery& query, ir::ValueId value);

/// A small constant of which every element is a value of `dtype` too.
bool fits(const rewrite::GraphQuery& query, ir::ValueId constant, DType dtype);

/// The numbers of a small constant as `dtype`.
ir::ValueId constant_as(rewrite::Rewriter& w, const rewrite::GraphQuery& query, ir::ValueId constant, DType dtype);

ir::ValueId cast_to(rewrite::Rewriter& w, ir::ValueId value, DType dtype);

/// Whether `number`, in a computation of that dtype, may become an attribute, which is an f32: f64 would lose digits.
bool fits_attribute(double number, DType dtype);

}  // namespace tenon::rules
