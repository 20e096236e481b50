// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/spatial/convolution.h"

namespace tenon::ops {

/// Sizes of a pooling, for references: it maps each plane [N, C] of shape `windows.data` to one of shape `windows.out`.
struct PoolSizes {
  WindowSizes windows;
  Sizes shape;                       ///< of result 0
  int64_t planes, plane, out_plane;  ///< how many planes; elements of a plane of operand 0, and of result 0
};
/// From operand 0, kernel_shape and ceil_mode. Errors: those of window_sizes.
Result<PoolSizes> pool_sizes(const Call& call);
/// Calls `number` with the elements of each window that lie in the data, and how many positions it has in the data or its padding.
Result<void> reference_of_pool(Call& call, const std::function<double(std::span<const double> x, int64_t padded)>& number);
/// The loop form of a sum pooling: finish(sum of transform(element)). A null `transform` is the identity.
Result<LoopForm> form_of_sum_pool(const NodeView& view, const std::function<Expr(Expr)>& transform,
                                  const std::function<Expr(Expr sum, const Windows& windows)>& finish);

}  // namespace tenon::ops
