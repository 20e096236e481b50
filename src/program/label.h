// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "ir/graph.h"

namespace tenon::program {

/// What a kernel computes, for people: the ops of its nodes, each once ("MatMul+Add"); "Copy" where there is none.
std::string label_of(const ir::Graph& graph, std::span<const ir::NodeId> nodes);

}  // namespace tenon::program
