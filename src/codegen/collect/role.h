// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.h"
#include "ops/core/loop.h"

namespace tenon::codegen {

/// What planning makes of a node.
enum class RoleKind : uint8_t {
  sizes,        ///< a step that stores sizes as an integer tensor
  same_bytes,   ///< nothing: the result has the memory of the first operand (Reshape)
  loops,        ///< loop nests
  attention,    ///< the attention kernel
  packed_rows,  ///< the step of op PackedRows
  control,      ///< a branch or loop whose bodies have plans of their own (If, Loop, Scan)
};
struct NodeRole {
  RoleKind kind = RoleKind::loops;
  ops::LoopForm form;  ///< of loops
};

/// Whether the loop updates elements of its output (Scatter with a reduction). Several of its parallel iterations may update
/// one element; these updates have to happen in row-major order.
bool updates_in_order(const ops::Loop& loop, const ops::Output& output);

/// The role of a node. Errors: not_supported, with the reason why kernels cannot run it; errors of its loop form. Cost: one shape inference
/// and one loop form of the node.
Result<NodeRole> role_of(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::codegen
