// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "ops/core/sample.h"

// Operands of special floats for the samples of every op, and a comparison that sees the sign of a zero.
namespace tenon::tests {

enum class Denormals : uint8_t { drawn, left_out };

/// The sample with room in plain operands for every pair of special values; as it is where its op wants its sizes.
inline ops::Sample widened_for_pairs(const ops::OpDef& def, const ops::Sample& sample) {
  ops::Sample wide = sample;
  for (ops::SampleOperand& o : wide.operands)
    if (o.present && !o.value && is_arithmetic_float(o.dtype) && o.shape == Sizes{2, 3}) o.shape = {13, 13};
  return ops::build_sample(def, wide, 1) ? wide : sample;
}

/// Fills every float tensor of `operands` with special values. Operand k steps through them with a stride of its own, so that operands of
/// some tens of elements meet in every pair. Other tensors stay as they are.
inline void fill_with_special_values(std::vector<Tensor>& operands, Denormals denormals) {
  std::vector<double> values = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 0.5, -2.5, 3e4, -3e4};
  if (denormals == Denormals::drawn) values.insert(values.end(), {1e-40, -1e-40});
  int64_t stride = 1, start = 0;
  for (Tensor& t : operands) {
    if (t.empty_handle() || t.holds_tensors() || !is_arithmetic_float(t.dtype())) continue;
    Tensor special = *Tensor::make(t.dtype(), t.shape());
    for (int64_t i = 0; i < t.count(); ++i) {
      const int64_t at = start + i / stride;
      special.set_number(i, values[static_cast<size_t>(at) % values.size()]);
    }
    t = std::move(special);
    stride *= static_cast<int64_t>(values.size());
    start += 3;
  }
}

/// What decides whether two floats are alike where values are special: NaN, an infinity, or a zero of either sign, which numbers too small
/// to be normal in f32 are taken for. Empty: any other number, which other tests compare.
inline std::string special_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  if (std::fabs(x) < 0x1p-126) return std::signbit(x) ? "-0" : "+0";
  return "";
}

/// Empty where every element of both is alike: integers equal, floats of the same special value or both other numbers.
inline std::string special_difference(const Tensor& want, const Tensor& got) {
  if (want.shape() != got.shape() || want.dtype() != got.dtype())
    return type_text(got.dtype(), got.shape()) + " instead of " + type_text(want.dtype(), want.shape());
  if (want.holds_tensors() || want.dtype() == DType::string || is_complex(want.dtype())) return "";
  for (int64_t i = 0; i < want.count(); ++i) {
    const bool floats = is_float(want.dtype());
    const std::string expected = floats ? special_text(want.number(i)) : std::to_string(want.integer(i));
    const std::string found = floats ? special_text(got.number(i)) : std::to_string(got.integer(i));
    if (expected != found)
      return "element " + std::to_string(i) + " is " + (found.empty() ? std::to_string(got.number(i)) : found) + " instead of " +
             (expected.empty() ? std::to_string(want.number(i)) : expected);
  }
  return "";
}

}  // namespace tenon::tests
