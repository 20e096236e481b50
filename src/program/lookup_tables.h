// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::program {

/// For each array, whether all reads of it are at loaded indices, as in an embedding table, of which a run reads few rows. False for
/// results of the plan and for arrays that a step without a kernel reads.
std::vector<bool> lookup_tables(const codegen::Plan& plan);

}  // namespace tenon::program
