// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/in_layout.h"

#include "plugin/public/plugins.h"

namespace tenon::cli {

namespace {

Tensor transposed(const Tensor& t, bool to_channels_last) {
  int64_t places = 1;
  for (size_t axis = 2; axis < t.shape().size(); ++axis) places *= t.shape()[axis];
  Tensor out = *Tensor::make(t.dtype(), t.shape());
  const int64_t rows = to_channels_last ? t.shape()[1] : places, columns = to_channels_last ? places : t.shape()[1];
  plugin::transpose(t.data(), out.mutable_data(), t.shape()[0], rows, columns, bits_of(t.dtype()) / 8, nullptr, 1);
  return out;
}

}  // namespace

Tensor in_layout(const Tensor& row_major, int32_t layout) {
  return plugin::is_reordered(layout, row_major.shape().size()) ? transposed(row_major, true) : row_major;
}

Tensor from_layout(const Tensor& laid_out, int32_t layout) {
  return plugin::is_reordered(layout, laid_out.shape().size()) ? transposed(laid_out, false) : laid_out;
}

void set_layout(plugin::TensorViews& views, size_t index, int32_t layout, Sizes& strides) {
  if (layout != TENON_ROW_MAJOR) strides = plugin::strides_of(layout, views.sizes(index));
  views.set_layout(index, layout, layout == TENON_ROW_MAJOR ? nullptr : strides.data());
}

}  // namespace tenon::cli
