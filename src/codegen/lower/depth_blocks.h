// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// How the depth of a contraction is cut: steps over its first `outer` axes, and, where none of the others can be one block, steps of
/// `inner` products along the last.
struct DepthBlocks {
  size_t outer = 0;
  int64_t inner = 0;  ///< 0: the axes behind `outer` are one block

  bool whole() const { return outer == 0 && inner == 0; }
};

/// Blocks of about `products`; 0, and extents that are known at the run only, are one block.
DepthBlocks depth_blocks(const std::vector<JointAxis>& depth, int64_t products);

}  // namespace tenon::codegen
