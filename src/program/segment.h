// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backend/backend.h"

namespace tenon::program {

/// What a kernel backend makes of a segment of its own: plans and lowers it, links a program, generates code, and encodes both. `target`:
/// of the code; what `options` has in `targets` for `backend` counts more. Weights are those of the blob. The device runs it with
/// runtime::make_program_segment. Errors: not_supported, naming the node, for one that no kernel runs, and for sizes that no operand gives.
Result<backend::Blob> compile_segment(const ir::Graph& graph, std::string_view backend, const backend::Options& options,
                                      const codegen::Target& target);

}  // namespace tenon::program
