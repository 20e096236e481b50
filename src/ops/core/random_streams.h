// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "ir/graph.h"

namespace tenon::ops {

/// Attribute of a node that draws random numbers: the number of its stream (base/random.h). ONNX lacks it: import and compile give it,
/// export drops it.
inline constexpr std::string_view kStreamAttribute = "stream";

/// Whether nodes of the op may have the attribute. Random ops of plugins draw numbers of their own and have none.
bool has_stream(const ir::Op& op);
/// Whether the node's results may differ from run to run: the op draws numbers, or does where an operand enables it (Dropout
/// in training mode), or a node of a body does.
bool is_random(const ir::Graph& graph, ir::NodeId node);

/// Numbers the random nodes that have no stream yet, those of bodies too, in graph order after the largest number that is given.
/// Cost: one walk.
void number_random_streams(ir::Graph& graph);
/// Whether number_random_streams would change anything.
bool has_unnumbered_streams(const ir::Graph& graph);

}  // namespace tenon::ops
