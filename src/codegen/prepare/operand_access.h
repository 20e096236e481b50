// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {

/// The constant 0 of i64, as an index.
Expr zero_index();
/// Axes by which a place runs densely over a constant of that shape, outermost first; nullopt where it does not.
std::optional<std::vector<int>> dense_order(const Affine& place, const Nest& nest, const Sizes& shape);
/// The operand's value in another nest `copy`, to which its loads are added. place: replaces the axes of `nest`. fits: where it is false,
/// nothing is read and the value is 0; may be null.
Expr moved_operand(const Nest& nest, const ContractOperand& operand, const std::function<Expr(const ExprNode&)>& place, const Expr& fits,
                   Nest& copy);

}  // namespace tenon::codegen
