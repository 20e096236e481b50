// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "import/decoder_ports.h"
#include "ir/graph.h"

namespace tenon::import {

/// Turns the graph of an exported decoder, after fill_inputs() and inference, into one with states: nodes of
/// GroupQueryAttention append to their cache, each pair becomes a state, the one output is `logits`, f32[1, vocabulary] of the last token.
/// Errors: those of pair_states and check_rows; bad_input (no logits); not_supported (logits of another shape; a GroupQueryAttention whose
/// definition needs unknown types or sizes).
Result<void> make_stateful(ir::Graph& graph, const DecoderPorts& ports);

}  // namespace tenon::import
