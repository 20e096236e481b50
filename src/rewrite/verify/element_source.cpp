// SPDX-License-Identifier: Apache-2.0
#include "rewrite/verify/element_source.h"

#include <cmath>
#include <limits>

namespace tenon::rewrite {
namespace {

/// Lowest and highest integer of the dtype (u64: of i64).
std::pair<int64_t, int64_t> integer_range_of(DType dtype) {
  const int bits = bits_of(dtype);
  if (bits >= 64) return {is_signed(dtype) ? INT64_MIN : 0, INT64_MAX};
  if (is_signed(dtype)) return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  return {0, (int64_t{1} << bits) - 1};
}

/// The resolution of a float dtype: half a step at 1, the largest finite number, the smallest above 0.
struct FloatRange {
  double unit, largest, smallest;
};

FloatRange float_range_of(DType dtype) {
  using Float = std::numeric_limits<float>;
  using Double = std::numeric_limits<double>;
  switch (dtype) {
    case DType::f64: return {1e-7, Double::max(), Double::denorm_min()};
    case DType::f32: return {0x1p-24, Float::max(), Float::denorm_min()};
    case DType::f16: return {0x1p-11, 65504, 0x1p-24};
    case DType::bf16: return {0x1p-8, 0x1.fep127, 0x1p-133};
    case DType::f8e4m3fn: return {0x1p-4, 448, 0x1p-10};
    case DType::f8e4m3fnuz: return {0x1p-4, 240, 0x1p-10};
    case DType::f8e5m2:
    case DType::f8e5m2fnuz: return {0x1p-3, 57344, 0x1p-17};
    case DType::f4e2m1: return {0x1p-2, 6, 0.5};
    case DType::f8e8m0: return {0x1p-1, Float::max(), 0x1p-127};
    default: return {0, Float::max(), Float::denorm_min()};
  }
}

}  // namespace

std::string_view name_of(Distribution distribution) {
  switch (distribution) {
    case Distribution::normal: return "normal";
    case Distribution::special: return "special";
    case Distribution::positive: return "positive";
    case Distribution::big: return "big";
    case Distribution::large: return "large";
    case Distribution::huge: return "huge";
    case Distribution::tiny: return "tiny";
    case Distribution::infinite: return "infinite";
    case Distribution::nan: return "NaN";
    case Distribution::masked: return "masked";
  }
  return "";
}

double unit_of(DType dtype) { return float_range_of(dtype).unit; }
double largest_of(DType dtype) { return float_range_of(dtype).largest; }
double smallest_positive_of(DType dtype) { return float_range_of(dtype).smallest; }

/// Near enough to normal, of four pieces of one draw: inputs of images are large, and std::normal_distribution takes logarithms.
double ElementSource::normal() {
  const uint64_t bits = random_();
  const uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) * 0x1p-16 - 2) * 1.7320508;
}

double ElementSource::number(DType dtype, Distribution distribution, bool may_be_size) {
  constexpr double kSpecial[] = {-0.0, 1, 0.0, -1, 0.5, -0.5, 2, -2, 3, 1e-3, 7};
  constexpr double kSteps[] = {0.0, -0.0, 1, -1, 3, 17, -300};
  const double normal = this->normal(), largest = largest_of(dtype);
  const size_t count = draw_count_++;
  switch (distribution) {
    case Distribution::normal: return normal;
    case Distribution::special:
      return ++special_count_ % 4 == 0 ? normal : kSpecial[(special_count_ - special_count_ / 4 - 1) % std::size(kSpecial)];
    case Distribution::positive: return 0.1 + std::abs(normal);
    case Distribution::big: return normal * std::min(std::pow(largest, 0.25), may_be_size ? 1e3 : largest);
    case Distribution::large:
    case Distribution::huge: {
      const double share = 0.3 + 0.7 * static_cast<double>(random_() >> 11) * 0x1p-53, sign = random_bit() ? 1 : -1;
      return random_() % 3 == 0 ? normal
                                : sign * share * (distribution == Distribution::huge && count % 2 ? largest : 4 * std::sqrt(largest));
    }
    case Distribution::tiny:
      return count % 3 ? kSteps[random_() % std::size(kSteps)] * smallest_positive_of(dtype)
                       : normal * std::sqrt(smallest_positive_of(dtype));
    case Distribution::infinite: return count % 3 ? normal : random_bit() ? INFINITY : -INFINITY;
    case Distribution::nan: return count % 3 ? normal : NAN;
    case Distribution::masked: return normal;  // see mask
  }
  return normal;
}

int64_t ElementSource::integer(DType dtype, Distribution distribution, bool may_be_size) {
  const auto [lowest, highest] = integer_range_of(dtype);
  const auto between = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(std::max(low, lowest), std::min(high, highest))(random_);
  };
  // Products of extreme i64 overflow, which is an error of size arithmetic; an i32 may be a size.
  if ((distribution == Distribution::large || distribution == Distribution::huge) && may_be_size && bits_of(dtype) == 32)
    distribution = Distribution::big;
  switch (distribution) {
    case Distribution::special:
    case Distribution::masked:
    case Distribution::infinite: return between(-2, 2);
    case Distribution::positive: return between(1, 3);
    case Distribution::big:
    case Distribution::nan: return may_be_size ? between(-20, 20) : between(-1000, 1000);
    case Distribution::large:
    case Distribution::huge:
      return draw_count_++ % 3 == 0 ? between(-2, 2) : random_bit() ? between(highest - 2, highest) : between(lowest, lowest + 2);
    case Distribution::tiny: return 0;
    case Distribution::normal: return between(0, 1);
  }
  return 0;
}

bool ElementSource::boolean(Distribution distribution) {
  if (distribution == Distribution::positive) return true;
  return distribution != Distribution::tiny && random_bit();
}

/// Rows along the last axis: the first from end to end, then one in places, then one not at all.
void ElementSource::mask(Tensor& tensor) {
  const int64_t row = tensor.rank() > 0 ? tensor.shape().back() : 1;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const int64_t count = i / row % 3;
    const bool hidden = count == 0 || (count == 1 && random_bit());
    tensor.set_number(i, hidden ? -INFINITY : normal());
  }
}

void ElementSource::fill(Tensor& tensor, Distribution distribution) {
  const DType dtype = tensor.dtype();
  const bool may_be_size = tensor.rank() <= 1;
  if (dtype == DType::string) {
    constexpr std::string_view kTexts[] = {"", "a", "b", "A "};
    for (std::string& s : tensor.mutable_strings()) s = kTexts[random_() % std::size(kTexts)];
  } else if (is_complex(dtype)) {
    for (int64_t i = 0; i < 2 * tensor.count(); ++i) {
      if (dtype == DType::c64)
        reinterpret_cast<float*>(tensor.mutable_data())[i] = static_cast<float>(number(DType::f32, distribution, false));
      else reinterpret_cast<double*>(tensor.mutable_data())[i] = number(DType::f64, distribution, false);
    }
  } else if (is_float(dtype) && distribution == Distribution::masked) {
    mask(tensor);
  } else if (is_float(dtype)) {
    for (int64_t i = 0; i < tensor.count(); ++i) tensor.set_number(i, number(dtype, distribution, may_be_size));
  } else {
    for (int64_t i = 0; i < tensor.count(); ++i)
      tensor.set_integer(i, dtype == DType::boolean ? boolean(distribution) : integer(dtype, distribution, may_be_size));
  }
}

}  // namespace tenon::rewrite
