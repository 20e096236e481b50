// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "api/state.h"

namespace tenon::inline v1 {

/// Runs with an idle context of the engine, or a new one, from the initial values of its states. Kernels write their results straight into
/// memory that the arrays own, or into `outputs`: one for each result, with null data where the library allocates; empty: it allocates all.
/// Errors: those of the run and of check_shape().
base::Result<std::vector<Array>> run_once(Engine::State& state, std::span<const Array> inputs, std::span<const OutputBuffer> outputs,
                                          const RunOptions& options);

}  // namespace tenon::inline v1
