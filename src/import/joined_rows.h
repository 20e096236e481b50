// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/decoder_ports.h"
#include "ir/graph.h"

namespace tenon::import {

/// Checks that a present output is its past input with rows joined at the end (Concat; present_key and present_value of Attention and
/// MultiHeadAttention) or scattered into it (TensorScatter, ScatterND, ScatterElements), which needs no copy of the cache. Errors:
/// bad_input (no such output), not_supported, with the node that computes something else. Cost: the nodes between past and present, and the
/// outputs.
Result<void> check_rows(const ir::Graph& graph, const CachePair& cache);

}  // namespace tenon::import
