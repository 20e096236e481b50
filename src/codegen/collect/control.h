// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.h"

namespace tenon::codegen {

/// Whether the node is a branch or a loop whose bodies can be compiled: the ranks of their inputs and outputs are known (of sequences and
/// optionals: the dtypes), and each value that a loop carries stays of one kind.
bool runs_as_programs(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::codegen
