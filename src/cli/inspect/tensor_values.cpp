// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/tensor_values.h"

#include <fmt/format.h>

#include <cmath>
#include <complex>

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
std::string complex_text(const Tensor& t, int64_t i) {
  const std::complex<T> value = t.as<std::complex<T>>()[static_cast<size_t>(i)];
  return fmt::format("{}{:+}j", value.real(), value.imag());
}

Json json_of_element(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::boolean) return t.integer(i) != 0;
  if (t.dtype() == DType::u64) return static_cast<uint64_t>(t.integer(i));
  if (is_integer(t.dtype())) return t.integer(i);
  if (is_float(t.dtype()) && std::isfinite(t.number(i))) return t.number(i);
  return element_text(t, i);
}

/// Elements from `at` on along `axis` and those after it.
Json nested(const Tensor& t, size_t axis, int64_t& at) {
  if (axis == t.shape().size()) return json_of_element(t, at++);
  Json out = Json::array();
  for (int64_t k = 0; k < t.shape()[axis]; ++k) out.push_back(nested(t, axis + 1, at));
  return out;
}

void append(const Tensor& t, size_t axis, int64_t& at, std::string& out) {
  if (axis == t.shape().size()) {
    out += element_text(t, at++);
    return;
  }
  const bool innermost = axis + 1 == t.shape().size();
  out += '[';
  for (int64_t k = 0; k < t.shape()[axis]; ++k) {
    if (k > 0) out += innermost ? ", " : ",\n" + std::string(axis + 1, ' ');
    append(t, axis + 1, at, out);
  }
  out += ']';
}

}  // namespace

std::string element_text(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::string) return t.strings()[static_cast<size_t>(i)];
  if (t.dtype() == DType::boolean) return t.integer(i) != 0 ? "true" : "false";
  if (t.dtype() == DType::c64) return complex_text<float>(t, i);
  if (t.dtype() == DType::c128) return complex_text<double>(t, i);
  if (t.dtype() == DType::u64) return std::to_string(static_cast<uint64_t>(t.integer(i)));
  if (!is_float(t.dtype())) return std::to_string(t.integer(i));
  return t.dtype() == DType::f64 ? fmt::format("{}", t.number(i)) : fmt::format("{}", static_cast<float>(t.number(i)));
}

std::string values_text(const Tensor& t) {
  std::string out;
  int64_t at = 0;
  append(t, 0, at, out);
  return out;
}

Json json_of_values(const Tensor& t) {
  int64_t at = 0;
  return nested(t, 0, at);
}

}  // namespace tenon::cli
