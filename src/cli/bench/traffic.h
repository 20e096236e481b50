// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "codegen/cost/predict.h"
#include "runtime/engine.h"

namespace tenon::cli {

/// How each step of a program is called with these inputs, in a run that follows another one: its tasks, and where its bytes are. A buffer
/// is in the nearest cache that holds what was touched since it was touched last, in part where that is up to twice the cache; what a step
/// is the first to write lies where the arena was just free. A thread finds its own of what it wrote where writer and reader walk the
/// buffer in order, on as many threads; else as much of it as chance has it. works: of each step, with numbers. Sizes that depend on data
/// count as 1. Errors: those of the size table.
Result<std::vector<codegen::KernelCall>> calls_of_steps(const runtime::Program& program, std::span<const Tensor> inputs,
                                                        std::span<const std::optional<codegen::Work>> works,
                                                        const codegen::Machine& machine);

}  // namespace tenon::cli
