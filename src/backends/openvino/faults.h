// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ir/graph.h"

namespace tenon::backends::openvino {

/// What OpenVINO (2026.4.1) does not take, or would compute otherwise than ONNX says, though it compiles it: why; of nodes in its bodies
/// too. Empty: nothing known.
std::string fault_of(const ir::NodeView& view);

}  // namespace tenon::backends::openvino
