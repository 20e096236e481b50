// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "ir/graph.h"

namespace tenon::program {

/// Label of a kernel in profiles and reports: the ops of its nodes, each once ("MatMul+Add"); "Copy" where it has no node.
std::string label_of(const ir::Graph& graph, std::span<const ir::NodeId> nodes);

}  // namespace tenon::program
