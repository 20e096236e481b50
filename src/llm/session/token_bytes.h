// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/engine.h"

namespace tenon::llm {

/// The bytes of weights that a run of one token reads: all weights, but of tables from which a token gathers a row (an embedding that is
/// not also the output's weight) one row.
uint64_t token_bytes(const runtime::Engine& engine);

}  // namespace tenon::llm
