// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plugin/public/plugins.h"

namespace tenon::cli {

/// Converts a row-major tensor to a layout of plugins, and back.
Tensor in_layout(const Tensor& row_major, int32_t layout);
Tensor from_layout(const Tensor& laid_out, int32_t layout);
/// Sets the layout of a view; strides: storage for its strides.
void set_layout(plugin::TensorViews& views, size_t index, int32_t layout, Sizes& strides);

}  // namespace tenon::cli
