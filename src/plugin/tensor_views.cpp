// SPDX-License-Identifier: Apache-2.0
#include "plugin/tensor_views.h"

#include "plugin/struct_versions.h"

namespace tenon::plugin {

TensorViews::TensorViews(size_t count) : sizes_(count), views_(count) {
  for (tenon_tensor& v : views_) {
    v = blank<tenon_tensor>();
    pointers_.push_back(&v);
  }
}

void TensorViews::set(size_t index, const Tensor& tensor) {
  set_type(index, tensor.dtype(), tensor.shape());
  views_[index].data = const_cast<std::byte*>(tensor.data());
}

void TensorViews::set_type(size_t index, DType dtype, std::span<const int64_t> sizes) {
  sizes_[index].assign(sizes.begin(), sizes.end());
  tenon_tensor& v = views_[index];
  v.dtype = static_cast<int32_t>(dtype);
  v.rank = static_cast<int32_t>(sizes.size());
  v.sizes = sizes_[index].data();
}

}  // namespace tenon::plugin
