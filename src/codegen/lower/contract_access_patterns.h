// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codegen/cost/access_pattern.h"
#include "codegen/cost/contract_tiling.h"

namespace tenon::codegen {

/// How the tasks of a contraction kernel access each of its arguments. tasks: extents of the task number's components: parts of the rows,
/// batch, groups of panels, chunks of a part's tiles.
std::vector<AccessPattern> contract_access_patterns(const Group& group, const Tiling& tiling, const std::vector<Dim>& tasks,
                                                    const std::vector<ArrayId>& arguments, const Plan& plan);

}  // namespace tenon::codegen
