// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "import/onnx_types.h"
#include "runtime/engine.h"

namespace tenon::compiler {

/// Checks that an engine's inputs may have the requested shapes, whose sizes are numbers or are left to the engine. `place`: the engine,
/// for errors. Errors: bad_input (no such input, other rank, a size that the engine fixes, two sizes of one symbol), bad_usage (a symbol or
/// an interval, which only a build can take).
Result<void> check_requested(std::span<const runtime::PortInfo> inputs, const std::vector<import::RequestedShape>& shapes,
                             const std::string& place);

}  // namespace tenon::compiler
