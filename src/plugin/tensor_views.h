// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "base/tensor.h"
#include "tenon/plugin.h"

namespace tenon::plugin {

/// Tensors as structs of the C interface, row-major unless a layout is set. Sizes are copied; data is shared.
class TensorViews {
 public:
  explicit TensorViews(size_t count);
  TensorViews(const TensorViews&) = delete;
  void set(size_t index, const Tensor& tensor);
  /// Sets dtype and sizes, without data.
  void set_type(size_t index, DType dtype, std::span<const int64_t> sizes);
  void set_data(size_t index, void* data) { views_[index].data = data; }
  /// strides: outlive their use by the view.
  void set_layout(size_t index, int32_t layout, const int64_t* strides) {
    views_[index].layout = layout;
    views_[index].strides = strides;
  }
  void clear(size_t index) { views_[index].dtype = TENON_NO_DTYPE; }
  const tenon_tensor& operator[](size_t index) const { return views_[index]; }
  std::span<const int64_t> sizes(size_t index) const { return sizes_[index]; }
  uint32_t size() const { return static_cast<uint32_t>(views_.size()); }
  const tenon_tensor* const* data() const { return pointers_.data(); }

 private:
  std::vector<Sizes> sizes_;
  std::vector<tenon_tensor> views_;
  std::vector<const tenon_tensor*> pointers_;
};

}  // namespace tenon::plugin
