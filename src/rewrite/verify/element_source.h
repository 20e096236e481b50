// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <random>
#include <string_view>

#include "base/tensor.h"

namespace tenon::rewrite {

/// The distribution of random elements. special: 0, -0, 1, -1, halves and the like; big: sums do not overflow, high powers do; large:
/// squares overflow; huge: up to the largest finite number; tiny: around the smallest. Integers follow: normal 0 or 1, special -2..2,
/// positive 1..3, large and huge: the dtype's ends, tiny 0. infinite and nan: a third of the elements, masked: -inf in whole rows and in
/// places, of one float input after another (see Sampler); normal elsewhere.
enum class Distribution : uint8_t { normal, special, positive, big, large, huge, tiny, infinite, nan, masked };
inline bool is_finite(Distribution distribution) { return distribution < Distribution::infinite; }
std::string_view name_of(Distribution distribution);

/// The unit roundoff of a float dtype: half the distance of 1 to the next number. For f64 it is 1e-7, because exporters write constants
/// of f32 into f64 graphs and rules compare them with that tolerance. 0 for other dtypes.
double unit_of(DType dtype);
/// Largest finite and smallest positive (subnormal, where there are such) number of a float dtype.
double largest_of(DType dtype);
double smallest_positive_of(DType dtype);

/// Draws random elements. The special values of a distribution alternate, so that small tensors too have each of them soon.
class ElementSource {
 public:
  explicit ElementSource(uint64_t seed) : random_(seed) {}
  /// Fills a tensor whose bytes are not shared. A tensor of rank 0 or 1 may be used as a shape or a count: its big numbers are smaller, so
  /// that results fit into memory.
  void fill(Tensor& tensor, Distribution distribution);
  bool random_bit() { return random_() % 2; }

 private:
  double normal();
  double number(DType dtype, Distribution distribution, bool may_be_size);
  int64_t integer(DType dtype, Distribution distribution, bool may_be_size);
  bool boolean(Distribution distribution);
  void mask(Tensor& tensor);

  std::mt19937_64 random_;
  size_t draw_count_ = 0, special_count_ = 0;
};

}  // namespace tenon::rewrite
