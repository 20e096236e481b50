// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/contract_roles.h"
#include "codegen/kernel.h"

namespace tenon::codegen {

/// A new array between kernels.
ArrayId add_temporary(Plan& plan, DType dtype, DimList shape, std::vector<int> order = {});

/// Where an access may leave its array (a padded convolution), copies the array into a larger one with the fill around it, and points
/// the access there; the copying nest is appended to `before`. Nothing is done where the access is always inside.
/// Errors: not_supported where the reach is not affine.
Result<void> pad_operand(NestAccess& access, const Nest& nest, Plan& plan, std::vector<Nest>& before);

/// Constants that the vector axis walks in larger steps than 1 are stored with that axis innermost (the weights of a depthwise
/// convolution).
void turn_constants(Nest& nest, int vector_axis, Plan& plan);

/// The lanes operand rearranged as [batch..., ceil(N/panel), depth..., panel], zeros beyond N: a lazy constant where it is one, else a
/// new array and a nest that fills it. The depth axes stand in the order of roles.depth.
Result<ArrayId> pack_operand(const Nest& nest, const ContractRoles& roles, int64_t panel, Plan& plan, std::vector<Nest>& before);

}  // namespace tenon::codegen
