// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/spatial/convolution.h"

namespace tenon::ops {

/// What a pooling reads and makes: planes [N, C] of `windows.data`, each giving one of `windows.out`.
struct PoolSizes {
  WindowSizes windows;
  Sizes shape;                       ///< of result 0
  int64_t planes, plane, out_plane;  ///< how many; elements of one, read and made
};
/// From operand 0, kernel_shape and ceil_mode. Errors: those of window_sizes.
Result<PoolSizes> pool_sizes(const Call& call);
/// Calls `number` with the elements of each window that lie in the data, and how many positions it has in the data or its padding.
Result<void> reference_of_pool(Call& call, const std::function<double(std::span<const double> x, int64_t padded)>& number);
/// The form of a pooling that adds: `before` of each element (null: the element), summed; `after` of the sum.
Result<LoopForm> form_of_sum_pool(const NodeView& view, const std::function<Expr(Expr)>& before,
                                  const std::function<Expr(Expr sum, const Windows& windows)>& after);

}  // namespace tenon::ops
