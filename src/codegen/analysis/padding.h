// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// A new array between kernels.
ArrayId add_temporary(Plan& plan, DType dtype, DimList shape, std::vector<int> order = {});

/// Where an index counts as inside of a dimension of its array.
struct Inside {
  Dim from, to;         ///< from <= index < to
  bool always;          ///< it never leaves that
  Dim lowest, highest;  ///< of the index, over all axes
};
/// That of each dimension; nullopt where dimensions cannot be determined one by one.
std::optional<std::vector<Inside>> inside_of(const NestAccess& access, const Nest& nest, const Plan& plan);

/// Whether `pad_operand` can do it: the access is always inside, or both its index and what it calls inside are affine in each dimension
/// of the array by itself.
bool can_be_padded(const NestAccess& access, const Nest& nest, const Plan& plan);
/// Where an access may leave its array (a padded convolution), copies what the nest reaches into an array of its own with the fill around
/// it, and points the access there. Two nests are appended to `before`: what fills the array, and what copies the inside; or one that does
/// both, where more than bounds of single dimensions say what is inside. Nothing is done where the access is always inside.
/// false, and nothing is changed, where that cannot be done.
bool pad_operand(NestAccess& access, const Nest& nest, Plan& plan, std::vector<Nest>& before);

}  // namespace tenon::codegen
