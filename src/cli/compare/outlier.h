// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/tensor.h"

namespace tenon::cli {

/// Sets the middle element of each floating-point tensor to `value`, to test which results one large element affects.
void put_outlier(std::vector<Tensor>& inputs, double value);

/// The largest difference among the half of the elements whose reference is nearest to 0: an outlier must not affect them. NaN where one
/// of two compared elements is NaN and the other is not. Cost: O(n) time and memory.
double error_of_small_half(const Tensor& result, const Tensor& reference);

}  // namespace tenon::cli
