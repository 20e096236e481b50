// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/cost/contract_tiling.h"
#include "codegen/cost/walk.h"

namespace tenon::codegen {

/// Of a kernel of register tiles. tasks: parts of the rows, batch, groups of panels, chunks of a part's tiles.
std::vector<Walk> contract_walks(const Group& group, const Tiling& tiling, const std::vector<Dim>& tasks,
                                 const std::vector<ArrayId>& arguments, const Plan& plan);

}  // namespace tenon::codegen
