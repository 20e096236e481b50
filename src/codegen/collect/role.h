// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.h"
#include "ops/core/loop.h"

namespace tenon::codegen {

/// What planning makes of a node: a line of the size table, another name for bytes that are there, loops, the attention kernel, the
/// step that packs rows, or a branch or loop over programs.
enum class RoleKind : uint8_t { sizes, same_bytes, loops, attention, packed_rows, control };
struct NodeRole {
  RoleKind kind = RoleKind::loops;
  ops::LoopForm form;  ///< of loops
};

/// Whether iterations of a parallel loop combine with what the output holds (Scatter with a reduction): several may write one element, in
/// their row-major order.
bool updates_in_order(const ops::Loop& loop, const ops::Output& output);

/// Errors: not_supported, saying why kernels cannot run the node; what its loop form refuses. Cost: one inference of the node, one form.
Result<NodeRole> role_of(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::codegen
