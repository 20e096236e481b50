// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/decoder_ports.h"
#include "ir/graph.h"

namespace tenon::import {

/// Replaces the inputs that have a role by their values for one sequence without padding, computed from the sizes of the tokens and of the
/// first cache: a mask of ones [1, past + new], positions past ... past + new - 1, lengths. A run has
/// 1 to the capacity of new tokens. Call it before the graph is inferred.
/// Errors: not_supported, for a rank that a role does not have.
Result<void> fill_inputs(ir::Graph& graph, const DecoderPorts& ports);

}  // namespace tenon::import
