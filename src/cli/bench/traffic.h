// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "base/result.h"
#include "codegen/cost/predict.h"
#include "runtime/engine.h"

namespace tenon::cli {

/// How each step of a program is called with these inputs, in a run that follows another one: its tasks, and where its bytes are. A buffer
/// is in the nearest cache that holds what was touched since it was touched last, in part where that is up to twice the cache; what a step
/// is the first to write lies where the arena was just free. most: elements that each step touches of an array at most, which tells a
/// gather from a product. Sizes that depend on data count as 1. Errors: those of the size table.
Result<std::vector<codegen::Call>> calls_of_steps(const runtime::Program& program, std::span<const Tensor> inputs,
                                                  std::span<const double> most, const codegen::Machine& machine);

}  // namespace tenon::cli
