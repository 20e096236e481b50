// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "codegen/analysis/contraction.h"
#include "codegen/analysis/places.h"

namespace tenon::codegen {

/// The i64 number 0, an index.
Expr zero_index();
/// Axes along which a constant of that shape is walked densely, outermost first; nullopt where it is not.
std::optional<std::vector<int>> dense_order(const Affine& place, const Nest& nest, const Sizes& shape);
/// The operand's value in the nest `copy`, which gets its loads with axes replaced by `place`; where `fits` (may be null) does not hold,
/// nothing is read and the value is zero.
Expr moved_operand(const Nest& nest, const ContractOperand& operand, const std::function<Expr(const ExprNode&)>& place, const Expr& fits,
                   Nest& copy);

}  // namespace tenon::codegen
