// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "ir/graph.h"

namespace tenon::tests {

/// Writes `folder`/weights.bin for a model that tools/models/strip_weights.py made: seeded numbers under which a mistake shows (unit gain
/// for matrices and kernels, scales of norms around 1). Errors: those of the ONNX parser; write_failed; not_supported for other types than
/// f32.
Result<void> write_weights(const std::filesystem::path& model, const std::filesystem::path& folder);

/// Inputs of the graph. round 0 and 1 differ in every dynamic size and in where the masks are off: at the end of each row, or (1) behind
/// its first token. Every row keeps at least its first token, and rows differ. Texts end with `last_token` where it is not negative.
std::vector<Tensor> draw_inputs(const ir::Graph& graph, int round, int64_t last_token = -1);

}  // namespace tenon::tests
