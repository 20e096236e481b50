// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// A row-major element number of an array of that shape, as the number that the element has where the dimensions are stored in `order`
/// (outermost first). nullopt where an axis of the nest walks other than whole dimensions that are neighbours in both orders.
std::optional<Expr> number_in_order(const Expr& flat, const DimList& shape, const std::vector<int>& order,
                                    const std::vector<ops::Axis>& axes);

}  // namespace tenon::codegen
