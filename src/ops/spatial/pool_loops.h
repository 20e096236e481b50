// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "ops/spatial/windows.h"

namespace tenon::ops {

/// What a pooling combines.
struct Pooling {
  Combine combine = Combine::max;
  DType dtype = DType::f32;               ///< of what is combined and of the result
  Expr fill;                              ///< of operand 0's dtype: an element outside; it changes nothing
  std::function<Expr(Expr)> before = {};  ///< of each element; null: the element
};

/// Loops whose last one has, as output 0, what the windows of operand 0 combine to, in result 0's shape. One loop over whole windows, or
/// one loop a spatial axis where that takes less than half of the operations: a window of k x k costs 2k in place of k * k a result. An
/// axis along which every window holds all of the data is reduced once for all results.
std::vector<Loop> pool_loops(const NodeView& view, const Windows& windows, const Pooling& pooling);

}  // namespace tenon::ops
