// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// nullopt where the nest is no sum of products, no operand has an axis for the lanes, nothing is reduced in both, or the rows operand may
/// leave its array and cannot be padded. Axes are single; `join_roles` puts together what the places given walk as one.
std::optional<Contraction> contraction_of(const Nest& nest, const Plan& plan);
/// places: whatever must stay affine (rows operand, result, epilogue operands) over the nest's axes.
void join_roles(Contraction& roles, const std::vector<Affine>& places);

/// The operand's value as the sum multiplies it.
Expr widened(const Expr& value, DType sum);
/// The same sum one product at a time, for targets without an instruction for its groups.
Contraction without_groups(Contraction roles);

/// The operand as a constant (lazily cast, where it is a cast of one); null where it is none.
ir::ConstantRef constant_of(const ContractOperand& operand, const Nest& nest, const Plan& plan);

/// Whether both compute their operands alike: what was a load still is one.
bool same_operands(const Contraction& a, const Contraction& b);

/// Recomputes the roles of a contraction. Call it after its nest, or the memory order of an array that it accesses, has changed. A group of
/// loops becomes a contraction. false: the nest is no contraction (any more) and must become plain loops; the group is unchanged.
bool recompute_roles(Group& group, const Plan& plan);
/// A contraction as groups of plain loops, in order: the sum, then its epilogue.
std::vector<Group> plain_groups(const Group& contraction);
/// Recomputes the roles of all contractions; nests that are no contractions any more become plain loops.
void recompute_all_roles(Plan& plan);

}  // namespace tenon::codegen
