// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>

#include "base/tensor.h"

namespace tenon::inline base {

/// Lets a view refer to other bytes, with the same dtype and shape. Allocates nothing.
inline void point_at(Tensor& view, const void* bytes) {
  const DType dtype = view.dtype();
  Sizes shape = std::move(const_cast<Sizes&>(view.shape()));  // reuses the memory of the shape
  view = Tensor::view(dtype, std::move(shape), bytes, nullptr);
}

}  // namespace tenon::inline base
