// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "import/onnx_types.h"
#include "runtime/engine.h"

namespace tenon::compiler {

/// Whether an engine's inputs may have these shapes: numbers, or whatever the engine says. `place`: the engine, for errors.
/// Errors: bad_input (no such input, other rank, a size that the engine fixes, two sizes of one symbol), bad_usage (a symbol or an
/// interval, which are given when an engine is built).
Result<void> check_requested(std::span<const runtime::PortInfo> inputs, const std::vector<import::RequestedShape>& shapes,
                             const std::string& place);

}  // namespace tenon::compiler
