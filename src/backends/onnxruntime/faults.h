// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "ir/graph.h"

namespace tenon::backends::onnxruntime {

/// What ONNX Runtime (1.31.1) makes a session of, but fails in when it runs, or computes otherwise than ONNX says: why; of
/// nodes in its bodies too. Empty: nothing known.
std::string_view fault_of(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::backends::onnxruntime
