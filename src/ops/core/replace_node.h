// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

/// Builds nodes from the operands `in` of a node and returns values for its results; the builder holds the first error.
using BuildReplacement = std::function<std::vector<ir::ValueId>(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in)>;
/// Replaces the node by what `replacement` builds: uses and names of its results move to the new values, and the node is erased.
/// Errors: those of the builder; not_supported where a result that has uses gets no value.
Result<void> replace_node(ir::Graph& graph, ir::NodeId node, const BuildReplacement& replacement);

}  // namespace tenon::ops
