// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string_view>

#include "ops/reference/indices.h"

namespace tenon::ops {

/// `to[i] = from[j]` for any dtype (strings too). Dtypes must be equal.
void copy_element(Tensor& to, int64_t i, const Tensor& from, int64_t j);
/// The imaginary part of element `i` of a complex tensor; Tensor::number gives the real part.
double imaginary(const Tensor& complex, int64_t i);
/// to[i] = from[j], or to[i] combined with from[j] by "add", "mul", "min" or "max".
void scatter_element(Tensor& to, int64_t i, const Tensor& from, int64_t j, std::string_view how);
/// The tensor with each element converted to `dtype`, rounded to nearest.
Result<Tensor> converted(const Tensor& from, DType dtype);
/// Result 0 [i] = from[source(i)] over the result's shape; a negative source leaves zero.
Result<void> gather_elements(Call& call, const Tensor& from, Sizes shape, const std::function<int64_t(const Sizes& index)>& source,
                             size_t result = 0);

}  // namespace tenon::ops
