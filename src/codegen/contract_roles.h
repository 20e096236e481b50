// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "codegen/nest.h"

namespace tenon::codegen {

/// Axes that every place walks as one; the last is the innermost.
struct JointAxis {
  std::vector<int> axes;
  Dim extent = 1;
};

/// What each axis of a sum of products is to its operands. Axes of extent 1 take no part.
struct ContractRoles {
  int rows_operand = 0, lanes_operand = 1;  ///< accesses: read element by element, and along the lanes
  std::vector<JointAxis> batch;             ///< in both operands
  std::vector<JointAxis> rows;              ///< in the rows operand only; the last runs over registers
  std::vector<JointAxis> lanes;             ///< in the lanes operand only; the last lies along the lanes
  std::vector<JointAxis> depth;             ///< reduced; the last is the innermost loop
};

/// nullopt where no operand has an axis for the lanes, or nothing is reduced in both.
/// Axes are single; `join_roles` puts together what the places given walk as one.
std::optional<ContractRoles> roles_of(const Nest& nest, const Plan& plan);
/// places: whatever must stay affine (rows operand, result, epilogue operands) over the nest's axes.
void join_roles(ContractRoles& roles, const std::vector<Affine>& places);

}  // namespace tenon::codegen
