// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/tensor.h"

namespace tenon::cli {

/// Sets the middle element of each floating tensor, to show how far the error that one large element makes reaches.
void put_outlier(std::vector<Tensor>& inputs, double value);

/// The largest difference among the half of the elements whose reference is nearest to 0: what an outlier must leave alone. NaN where one
/// of them is a number and the other is not. Cost: O(n) time and memory.
double error_of_small_half(const Tensor& result, const Tensor& reference);

}  // namespace tenon::cli
