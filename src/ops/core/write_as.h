// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

/// Builds the results of a node from its operands; the builder holds the first error.
using Writing = std::function<std::vector<ir::ValueId>(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in)>;
/// Puts what `writing` makes in place of the node, which is erased; its names go over.
/// Errors: not_supported where a result that somebody uses is left out.
Result<void> write_as(ir::Graph& graph, ir::NodeId node, const Writing& writing);

}  // namespace tenon::ops
