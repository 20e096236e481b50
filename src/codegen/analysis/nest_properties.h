// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// How much an inlined body costs each time it is evaluated.
struct BodyCost {
  int arithmetic = 0;
  int transcendental = 0;
  int loads = 0;
  bool indirect = false;  ///< is_indirect
};
BodyCost cost_of(const Nest& nest);
bool is_transcendental(ExprOp op);

/// There is an access whose place is itself loaded.
bool is_indirect(const Nest& nest);
/// There is an output whose place is loaded (Scatter): two points may write one element, and the later one stays.
bool scatters(const Nest& nest);

/// Values that are live at once where the body is evaluated operand by operand: what a kernel needs registers for.
int most_live(const Nest& nest);

/// What one fused body may hold; beyond it a new group begins, which costs one store and one load an element. Larger bodies run no
/// faster and the code generator takes more than linear time for them. No body of the models in tests/models comes near.
struct BodyBudget {
  int operations = 64;  ///< transcendental ones included
  int transcendental = 20;
  int live = 24;
};
inline constexpr BodyBudget kBodyBudget;
/// Whether the body keeps within the budget. Cost: linear in the body.
bool within_budget(const Nest& nest);

/// Whether a leaf of that operator, and of that number where it is not negative, occurs in the expression (which may be null).
bool mentions(const Expr& e, ExprOp leaf, int index = -1);

/// Whether the access reads another place from step to step of the axis, as far as its index says.
bool walks(const NestAccess& access, int axis);
/// Whether the nest's condition is another one from step to step of the axis.
bool is_axis_of_condition(const Nest& nest, int axis);

/// All axes parallel, one output, written once at its own place: the loop can be evaluated wherever it is read.
bool is_map(const Nest& nest);
/// The same with any number of outputs.
bool is_joint_map(const Nest& nest);
/// The access reads dimension d by axis d, over the whole array.
bool reads_own_place(const NestAccess& a, const Nest& map, const Plan& plan);
/// A map that only reads one element elsewhere, unchanged.
bool is_view(const Nest& nest);
/// The two factors of a sum of products over axes that the output lacks, of f32 or of bytes as i32: expressions over loads of their own.
/// Neither contains the axes.
std::optional<std::array<ContractOperand, 2>> factors_of(const Nest& nest);
/// The same where both factors are loads.
bool is_sum_of_products(const Nest& nest);

}  // namespace tenon::codegen
