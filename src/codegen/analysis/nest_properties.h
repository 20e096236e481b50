// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Operations of one evaluation of a nest's body.
struct BodyCost {
  int arithmetic = 0;
  int transcendental = 0;
  int loads = 0;
  bool indirect = false;  ///< see is_indirect
};
BodyCost cost_of(const Nest& nest);
bool is_transcendental(ExprOp op);

/// Whether some access has a loaded index (Gather).
bool is_indirect(const Nest& nest);
/// Whether some output has a loaded index (Scatter). Two points may then write one element, and the later one counts.
bool scatters(const Nest& nest);

/// The most values that are live at once where the body is evaluated operand by operand: the registers that a kernel needs.
int max_live_values(const Nest& nest);

/// What one fused body may hold; beyond it a new group begins, which costs one store and one load an element. Larger bodies run no
/// faster and the code generator takes more than linear time for them. No body of the models in tests/models comes near.
struct BodyBudget {
  int operations = 64;  ///< transcendental ones included
  int transcendental = 20;
  int live = 24;  ///< see max_live_values
};
inline constexpr BodyBudget kBodyBudget;
/// Whether the body is within kBodyBudget. Cost: linear in the body.
bool within_budget(const Nest& nest);

/// Whether a leaf of that operator occurs in the expression, which may be null. index: number of the axis or input; -1: any.
bool mentions(const Expr& e, ExprOp leaf, int index = -1);

/// Whether the axis occurs in the access's index. (Loads that the index contains are not followed.)
bool moves_along(const NestAccess& access, int axis);
/// Whether the nest's condition is loaded at an index that contains the axis.
bool is_axis_of_condition(const Nest& nest, int axis);

/// Whether all axes are parallel and the one output stores element (i0, i1, ...) at step (i0, i1, ...): the body can be evaluated by a
/// reader.
bool is_map(const Nest& nest);
/// The same for any number of outputs.
bool is_joint_map(const Nest& nest);
/// Whether the access loads element (i0, i1, ...) at step (i0, i1, ...) of the map, and all of the array.
bool reads_own_element(const NestAccess& a, const Nest& map, const Plan& plan);
/// Whether the nest is a map that copies one element, as Transpose and Slice do.
bool is_view(const Nest& nest);
/// The two factors of a sum of products over axes that the output lacks, in f32, or in i32 of bytes. Each is an expression over loads of
/// its own that contains no axis. nullopt: the nest is no such sum.
std::optional<std::array<ContractOperand, 2>> factors_of(const Nest& nest);
/// The same where both factors are loads.
bool is_sum_of_products(const Nest& nest);

}  // namespace tenon::codegen
