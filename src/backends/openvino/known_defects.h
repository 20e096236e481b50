// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ir/graph.h"

namespace tenon::backends::openvino {

/// Why OpenVINO (2026.4.1) cannot run the node: it refuses it, or compiles it with results that differ from ONNX. Nodes in its bodies are
/// checked too. Empty: no defect is known.
std::string known_defect_in(const ir::NodeView& view);

}  // namespace tenon::backends::openvino
