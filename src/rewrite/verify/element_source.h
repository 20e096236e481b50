// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <random>
#include <string_view>

#include "base/tensor.h"

namespace tenon::rewrite {

/// How elements are drawn. special: 0, -0, 1, -1, halves and the like; big: so that sums are safe and high powers are not; large: so that
/// squares overflow; huge: up to the largest finite number; tiny: around the smallest. Integers follow: normal 0 or 1, special -2..2,
/// positive 1..3, large and huge: the dtype's ends, tiny 0. infinite and nan: a third of the elements, masked: -inf in whole rows and in
/// places, of one float input after another (see Sampler); normal elsewhere.
enum class Draw : uint8_t { normal, special, positive, big, large, huge, tiny, infinite, nan, masked };
inline bool is_finite(Draw draw) { return draw < Draw::infinite; }
std::string_view name_of(Draw draw);

/// Half a step of the mantissa at 1: what rounding to the dtype costs, relatively. f64 counts 1e-7, because exporters write constants
/// of f32 into f64 graphs and rules compare them with that tolerance. 0 for what is no float.
double unit_of(DType dtype);
/// Largest finite and smallest positive number of a float dtype.
double largest_of(DType dtype);
double smallest_of(DType dtype);

/// Draws elements. The odd values of a draw alternate, so that small tensors too meet each of them soon.
class ElementSource {
 public:
  explicit ElementSource(uint64_t seed) : random_(seed) {}
  /// The bytes must not be shared yet. What has at most one axis may be a shape, a count or a scale somewhere after: big numbers are
  /// smaller there, so that no result outgrows the memory.
  void fill(Tensor& tensor, Draw draw);
  bool coin() { return random_() % 2; }

 private:
  double normal();
  double number(DType dtype, Draw draw, bool may_be_size);
  int64_t integer(DType dtype, Draw draw, bool may_be_size);
  bool boolean(Draw draw);
  void mask(Tensor& tensor);

  std::mt19937_64 random_;
  size_t draw_count_ = 0, special_count_ = 0;
};

}  // namespace tenon::rewrite
