// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Adds an array for values between kernels. order: see Array::order.
ArrayId add_temporary(Plan& plan, DType dtype, DimList shape, std::vector<int> order = {});

/// The values of an access's index in one dimension, and those at which an element is loaded.
struct IndexBounds {
  Dim from, to;         ///< an element is loaded where from <= index < to
  bool always;          ///< that holds at all steps
  Dim lowest, highest;  ///< least and largest value of the index over all steps
};
/// The bounds in each dimension; nullopt where they are not affine, or depend on several dimensions together.
std::optional<std::vector<IndexBounds>> index_bounds_of(const NestAccess& access, const Nest& nest, const Plan& plan);

/// Whether `pad_operand` applies: the access is always inside, or its index and its condition are affine in each dimension by itself.
bool can_be_padded(const NestAccess& access, const Nest& nest, const Plan& plan);
/// Where an access may leave its array (a padded convolution), lets it read a copy with the fill around it. Appends to `before` the nests
/// that make the copy: one that fills it and one that copies the inside, or one that does both where the condition is more than bounds of
/// single dimensions. Does nothing where the access is always inside. false: not possible, nothing is changed.
bool pad_operand(NestAccess& access, const Nest& nest, Plan& plan, std::vector<Nest>& before);

}  // namespace tenon::codegen
