// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// A factor cast(data) - cast(zero) of a product of 8-bit integers. Where the data is outside of its array, the factor is 0.
struct IntegerFactor {
  int data = -1, zero = -1;  ///< numbers of accesses; zero -1: there is no zero point
};
/// The factors of the products that a nest sums in i32; nullopt: it is no such sum.
std::optional<std::array<IntegerFactor, 2>> integer_factors_of(const Nest& nest);

/// A constant factor without its zero point, and the sums of it over the axes that the nest reduces.
struct IntegerWeights {
  ir::ConstantRef shifted;  ///< i8: the factor minus its zero point
  ir::ConstantRef sums;     ///< i32: over the reduced axes; has the other dimensions
  std::vector<Expr> index;  ///< of `sums`, over the axes of the nest
};
/// nullopt where a zero point is no constant, a difference does not fit i8, or a dimension is reduced in part.
std::optional<IntegerWeights> integer_weights_of(const IntegerFactor& b, const Nest& nest, const Plan& plan);

}  // namespace tenon::codegen
