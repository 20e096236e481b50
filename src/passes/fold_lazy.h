// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tenon::passes {

/// The node's results as lazy expressions over its constant operands, where slice, permute, reshape, concat, cast or scale say them
/// exactly. Reads no bytes but those of small operands (axes, sizes).
std::optional<std::vector<ir::ConstantRef>> fold_lazily(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::passes
