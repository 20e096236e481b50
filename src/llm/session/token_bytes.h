// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/engine.h"

namespace tenon::llm {

/// Bytes of weights that a run of one token reads: all, but of tables of which tokens pick a row (an embedding that is not the output's
/// table) that row.
uint64_t token_bytes(const runtime::Engine& engine);

}  // namespace tenon::llm
