// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/state.h"

namespace tenon::inline v1 {

/// Runs with an idle context of the engine, or a new one. Kernels write their results straight into memory that the arrays own.
base::Result<std::vector<Array>> run_once(Engine::State& state, std::span<const base::Tensor> inputs, const runtime::RunOptions& options);

}  // namespace tenon::inline v1
