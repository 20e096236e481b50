// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.h"

namespace tenon::codegen {

/// The node is a branch or a loop whose bodies can be compiled: all that goes in, out and through them are tensors, and the ranks at
/// their borders are known.
bool runs_as_programs(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::codegen
