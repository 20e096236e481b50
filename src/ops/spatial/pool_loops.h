// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "ops/spatial/windows.h"

namespace tenon::ops {

/// The reduction of a pooling.
struct Pooling {
  Combine combine = Combine::max;
  DType dtype = DType::f32;                  ///< of the combined values and of the result
  Expr fill;                                 ///< of operand 0's dtype: the value of elements outside, neutral in the reduction
  std::function<Expr(Expr)> transform = {};  ///< applied to each element before the reduction; null: none
};

/// The loops of a pooling of operand 0; output 0 of the last one has the combined windows, in the shape of result 0. One loop over whole
/// windows, or one loop a spatial axis where that takes less than half of the operations: a window of k x k costs 2k in place of k * k a
/// result. An axis that every window covers is reduced once for all results.
std::vector<Loop> pool_loops(const NodeView& view, const Windows& windows, const Pooling& pooling);

}  // namespace tenon::ops
