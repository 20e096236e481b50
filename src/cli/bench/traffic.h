// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "codegen/cost/predict.h"
#include "runtime/engine.h"

namespace tenon::cli {

/// For each step of a program, the number of its tasks and the cache levels that its operands are read from, in a run with these inputs
/// that follows another run. The model: a buffer is in the smallest cache that holds all bytes that were accessed since its last access, in
/// part where these are up to twice the cache. A buffer's first write goes to the cache level of the arena bytes that it reuses. A thread
/// reads its own data where writer and reader access the buffer in order, on the same number of threads; else the share is by chance.
/// works: of each step, with concrete sizes. Sizes that depend on data count as 1. Errors: those of the size table.
Result<std::vector<codegen::KernelCall>> calls_of_steps(const runtime::Program& program, std::span<const Tensor> inputs,
                                                        std::span<const std::optional<codegen::Work>> works,
                                                        const codegen::Machine& machine);

}  // namespace tenon::cli
