// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "import/onnx_types.h"
#include "runtime/engine.h"

namespace tenon::compiler {

/// The input shapes of a run on generated inputs: requested sizes, the model's fixed sizes, and for symbolic dimensions 1 (the first)
/// or 16, inside their bounds.
std::vector<Sizes> default_shapes(std::span<const runtime::PortInfo> inputs, const std::vector<import::RequestedShape>& shapes);

}  // namespace tenon::compiler
