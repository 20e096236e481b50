// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "import/onnx_types.h"
#include "runtime/engine.h"

namespace tenon::compiler {

/// The shapes that a run without given inputs takes: those requested, numbers of the model, and for free dimensions 1 (the first)
/// or 16, inside their bounds.
std::vector<Sizes> default_shapes(std::span<const runtime::PortInfo> inputs, const std::vector<import::RequestedShape>& shapes);

}  // namespace tenon::compiler
