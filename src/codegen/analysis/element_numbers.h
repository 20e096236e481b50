// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Converts `flat`, a row-major element number of an array of that shape, to the element's number with dimensions stored in `order`
/// (outermost first). nullopt where an axis does not run over whole dimensions that are neighbours in both orders.
std::optional<Expr> number_in_order(const Expr& flat, const DimList& shape, const std::vector<int>& order,
                                    const std::vector<ops::Axis>& axes);

}  // namespace tenon::codegen
