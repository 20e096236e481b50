// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plugin/layout/layout_conversion.h"

namespace tenon::cli {

/// A copy of the bytes of a row-major tensor as they lie in a layout; and back.
Tensor in_layout(const Tensor& row_major, int32_t layout);
Tensor from_layout(const Tensor& laid_out, int32_t layout);
/// Tells a view its layout; strides: where they are kept meanwhile.
void set_layout(plugin::TensorViews& views, size_t index, int32_t layout, Sizes& strides);

}  // namespace tenon::cli
