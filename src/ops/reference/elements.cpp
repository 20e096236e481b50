// SPDX-License-Identifier: Apache-2.0
#include "ops/reference/elements.h"

#include <algorithm>
#include <cstring>

#include "base/scalar.h"
#include "ops/reference/integers.h"

namespace tenon::ops {

void copy_element(Tensor& to, int64_t i, const Tensor& from, int64_t j) {
  TENON_ASSERT(to.dtype() == from.dtype());
  if (to.dtype() == DType::string) {
    to.mutable_strings()[static_cast<size_t>(i)] = from.strings()[static_cast<size_t>(j)];
    return;
  }
  const int bits = bits_of(to.dtype());
  if (bits < 8) {
    if (is_float(to.dtype())) to.set_number(i, from.number(j));
    else to.set_integer(i, from.integer(j));
    return;
  }
  const size_t bytes = static_cast<size_t>(bits / 8);
  std::memcpy(to.mutable_data() + static_cast<size_t>(i) * bytes, from.data() + static_cast<size_t>(j) * bytes, bytes);
}

double imaginary(const Tensor& complex, int64_t i) {
  const auto at = static_cast<size_t>(2 * i + 1);
  if (complex.dtype() == DType::c128) return reinterpret_cast<const double*>(complex.data())[at];
  return static_cast<double>(reinterpret_cast<const float*>(complex.data())[at]);
}

void scatter_element(Tensor& to, int64_t i, const Tensor& from, int64_t j, std::string_view how) {
  if (how == "none") return copy_element(to, i, from, j);
  if (is_float(to.dtype())) {
    const double a = to.number(i), b = from.number(j);
    to.set_number(i, how == "add" ? a + b : how == "mul" ? a * b : how == "min" ? minimum(a, b) : maximum(a, b));
  } else {
    const int64_t a = to.integer(i), b = from.integer(j);
    to.set_integer(i, how == "add" ? wrap_add(a, b) : how == "mul" ? wrap_mul(a, b) : how == "min" ? std::min(a, b) : std::max(a, b));
  }
}

Result<Tensor> converted(const Tensor& from, DType dtype) {
  if (from.dtype() == dtype) return from;
  Tensor out = TRY(Tensor::make(dtype, from.shape()));
  if (is_float(from.dtype())) store_numbers(out, numbers_of(from));
  else store_integers(out, integers_of(from));
  return out;
}

Result<void> gather_elements(Call& call, const Tensor& from, Sizes shape, const std::function<int64_t(const Sizes& index)>& source,
                             size_t result) {
  Tensor* out = TRY(call.make(result, shape));
  if (out->count() == 0) return {};
  Sizes at(shape.size(), 0);
  int64_t i = 0;
  do {
    const int64_t j = source(at);
    if (j >= 0) copy_element(*out, i, from, j);
    ++i;
  } while (next_index(at, shape));
  return {};
}

}  // namespace tenon::ops
