// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::program {

/// Of each array, whether all its readers look rows up in it: at places that depend on data, as in a table of embeddings, of which a run
/// touches little. What a step without a kernel reads, and what is a result, is not.
std::vector<bool> looked_up(const codegen::Plan& plan);

}  // namespace tenon::program
