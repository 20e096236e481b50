// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// How the depth of a contraction is cut into blocks: loops over its first `outer` axes, and, where inner > 0, blocks of `inner` products
/// along the last axis.
struct DepthBlocks {
  size_t outer = 0;
  int64_t inner = 0;  ///< 0: all axes after the first `outer` are one block

  /// Whether all of the depth is one block.
  bool whole() const { return outer == 0 && inner == 0; }
};

/// Blocks of about `products` products. One block where `products` is 0 or an extent is known only at run time.
DepthBlocks depth_blocks(const std::vector<JointAxis>& depth, int64_t products);

}  // namespace tenon::codegen
