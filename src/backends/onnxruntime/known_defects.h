// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "ir/graph.h"

namespace tenon::backends::onnxruntime {

/// Why ONNX Runtime (1.31.1) cannot run the node although it creates a session: the run fails, or its results differ from ONNX. Nodes in
/// its bodies are checked too. Empty: no defect is known.
std::string_view known_defect_in(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::backends::onnxruntime
