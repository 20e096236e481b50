// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/stack.h"

#include "ops/core/refuse.h"
#include "ops/infer/axes.h"
#include "ops/reference/elements.h"

namespace tenon::ops {

Result<Tensor> stacked(const NodeView& view, const std::vector<Tensor>& parts, int64_t axis, DType dtype, Sizes empty) {
  Sizes shape = parts.empty() ? std::move(empty) : parts[0].shape();
  const int a = TRY(normalise_axis(view, axis, static_cast<int>(shape.size()) + 1));
  const int64_t count = static_cast<int64_t>(parts.size());
  shape.insert(shape.begin() + a, count);
  Tensor out = TRY(Tensor::make(parts.empty() ? dtype : parts[0].dtype(), shape));
  int64_t inner = 1;
  for (size_t d = static_cast<size_t>(a) + 1; d < shape.size(); ++d) inner *= shape[d];
  for (int64_t k = 0; k < count; ++k) {
    const Tensor& part = parts[static_cast<size_t>(k)];
    if (part.shape() != parts[0].shape() || part.dtype() != parts[0].dtype())
      return refuse(view, Code::shape_mismatch, "the tensors to stack differ");
    for (int64_t i = 0; i < part.count(); ++i) copy_element(out, (i / inner * count + k) * inner + i % inner, part, i);
  }
  return out;
}

Result<Tensor> slice_at(const Tensor& from, int64_t axis, int64_t index) {
  Sizes shape = from.shape();
  const int64_t size = shape[static_cast<size_t>(axis)];
  shape.erase(shape.begin() + axis);
  Tensor out = TRY(Tensor::make(from.dtype(), shape));
  int64_t inner = 1;
  for (size_t d = static_cast<size_t>(axis); d < shape.size(); ++d) inner *= shape[d];
  for (int64_t i = 0; i < out.count(); ++i) copy_element(out, i, from, (i / inner * size + index) * inner + i % inner);
  return out;
}

}  // namespace tenon::ops
