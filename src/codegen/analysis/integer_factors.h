// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// cast(data) - cast(zero): accesses of 8-bit integers. Where the data is outside of its array, the whole factor is 0.
struct IntegerFactor {
  int data = -1, zero = -1;  ///< zero -1: there is none
};
/// The factors of the products that a nest sums in i32; nullopt where it does something else.
std::optional<std::array<IntegerFactor, 2>> integer_factors_of(const Nest& nest);

/// A constant factor without its zero point, and the sums of it over the axes that the nest reduces.
struct IntegerWeights {
  ir::ConstantRef shifted;  ///< i8, of the shape that `b` has
  ir::ConstantRef sums;     ///< i32, of the dimensions of `b` that are not summed
  std::vector<Expr> index;  ///< where the nest reads `sums`
};
/// nullopt where a zero point is no constant, one leads out of i8, or a dimension is neither summed as a whole nor left alone.
std::optional<IntegerWeights> integer_weights_of(const IntegerFactor& b, const Nest& nest, const Plan& plan);

}  // namespace tenon::codegen
