// SPDX-License-Identifier: Apache-2.0
#include "cli/compare/outlier.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tenon::cli {

void put_outlier(std::vector<Tensor>& inputs, double value) {
  for (Tensor& t : inputs)
    if (is_float(t.dtype()) && t.count() > 0) t.set_number(t.count() / 2, value);
}

double error_of_small_half(const Tensor& result, const Tensor& reference) {
  std::vector<int64_t> order(static_cast<size_t>(reference.count()));
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](int64_t i) {
    const double x = std::abs(reference.number(i));
    return std::isnan(x) ? std::numeric_limits<double>::infinity() : x;
  };
  const auto half = order.begin() + static_cast<ptrdiff_t>((order.size() + 1) / 2);
  std::ranges::nth_element(order, half, {}, size);
  double largest = 0;
  for (auto i = order.begin(); i != half; ++i) {
    const double error = std::abs(result.number(*i) - reference.number(*i));
    if (std::isnan(error)) return error;
    largest = std::max(largest, error);
  }
  return largest;
}

}  // namespace tenon::cli
