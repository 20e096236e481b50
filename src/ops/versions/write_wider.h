// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/core/op.h"

namespace tenon::ops {

/// Puts the node between casts where the version of its op that `opset` means lacks its element types, but allows wider ones in which all
/// results are the same (same_in_wider): i8 as i32, bf16 as f32. The node is erased. false: nothing is changed, for no such types are
/// there.
Result<bool> write_wider(ir::Graph& graph, ir::NodeId node, int64_t opset);

}  // namespace tenon::ops
