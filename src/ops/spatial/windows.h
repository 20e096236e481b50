// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ops/infer/types.h"

namespace tenon::ops {

/// Sliding windows of Conv and of the poolings; one element of each list a spatial axis.
struct Windows {
  Ints kernel, strides, dilations;
  DimList pads_begin, pads_end;  ///< elements of padding before and after the data
  bool ceil_mode = false;
};
/// Reads kernel_shape (or `kernel`), strides, dilations, pads, auto_pad, ceil_mode; `sizes`: spatial sizes of the operand.
/// SAME_* paddings are computed from the sizes (symbolically where they are). Errors: bad_attribute.
Result<Windows> windows_of(const NodeView& view, const DimList& sizes, std::optional<Ints> kernel = {});
/// Output sizes of the windows over `sizes`. Errors: shape_mismatch where a window is larger than the padded input.
Result<DimList> window_outputs(const NodeView& view, const Windows& windows, const DimList& sizes);

}  // namespace tenon::ops
