// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.h"

namespace tenon::partition {

/// Gives each reader of a dequantized value its own DequantizeLinear, in bodies too, so that the pair stays together wherever the reader
/// runs: readers on other backends then take the integers. ONNX Runtime does the same for its node units (EnsureUniqueDQForNodeUnit).
/// Readers with bodies, and graph outputs, share the original. Cost: linear.
void copy_dequantize_to_readers(ir::Graph& graph);

}  // namespace tenon::partition
