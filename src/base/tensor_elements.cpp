// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/scalar.h"
#include "base/tensor.h"

namespace tenon::inline base {
namespace {

/// The stored bits of element `i`; packed elements are stored low bits first in their byte.
uint64_t load_bits(const std::byte* data, int bits, int64_t i) {
  if (bits < 8) {
    const int64_t bit = i * bits;
    return (std::to_integer<uint64_t>(data[bit / 8]) >> (bit % 8)) & ((uint64_t{1} << bits) - 1);
  }
  const size_t bytes = static_cast<size_t>(bits) / 8;
  uint64_t pattern = 0;
  std::memcpy(&pattern, data + static_cast<size_t>(i) * bytes, bytes);
  return pattern;
}

void store_bits(std::byte* data, int bits, int64_t i, uint64_t pattern) {
  if (bits < 8) {
    const int64_t bit = i * bits;
    const uint64_t mask = ((uint64_t{1} << bits) - 1) << (bit % 8);
    const uint64_t before = std::to_integer<uint64_t>(data[bit / 8]);
    data[bit / 8] = static_cast<std::byte>((before & ~mask) | ((pattern << (bit % 8)) & mask));
    return;
  }
  const size_t bytes = static_cast<size_t>(bits) / 8;
  std::memcpy(data + static_cast<size_t>(i) * bytes, &pattern, bytes);
}

template <class T>
T load_as(const std::byte* data, int64_t i) {
  T value;
  std::memcpy(&value, data + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

/// Real part at index `i` of a complex tensor.
double load_real(DType dtype, const std::byte* data, int64_t i) {
  return dtype == DType::c64 ? static_cast<double>(load_as<float>(data, 2 * i)) : load_as<double>(data, 2 * i);
}

void store_complex(DType dtype, std::byte* data, int64_t i, double real) {
  const DType part = dtype == DType::c64 ? DType::f32 : DType::f64;
  store_bits(data, bits_of(part), 2 * i, encode_float(part, real));
  store_bits(data, bits_of(part), 2 * i + 1, 0);
}

double load_number(DType dtype, const std::byte* data, int64_t i) {
  if (dtype == DType::f32) return static_cast<double>(load_as<float>(data, i));
  if (dtype == DType::f64) return load_as<double>(data, i);
  if (is_complex(dtype)) return load_real(dtype, data, i);
  const uint64_t pattern = load_bits(data, bits_of(dtype), i);
  if (is_float(dtype)) return decode_float(dtype, pattern);
  return number_of_integer(dtype, wrap_integer(dtype, static_cast<int64_t>(pattern)));
}

int64_t load_integer(DType dtype, const std::byte* data, int64_t i) {
  if (dtype == DType::i64) return load_as<int64_t>(data, i);
  if (is_complex(dtype)) return wrap_number(DType::i64, load_real(dtype, data, i));
  const uint64_t pattern = load_bits(data, bits_of(dtype), i);
  if (is_float(dtype)) return wrap_number(DType::i64, decode_float(dtype, pattern));
  return wrap_integer(dtype, static_cast<int64_t>(pattern));
}

void store_number(DType dtype, std::byte* data, int64_t i, double value) {
  if (is_complex(dtype)) return store_complex(dtype, data, i, value);
  const uint64_t pattern = is_float(dtype) ? encode_float(dtype, value) : static_cast<uint64_t>(wrap_number(dtype, value));
  store_bits(data, bits_of(dtype), i, pattern);
}

void store_integer(DType dtype, std::byte* data, int64_t i, int64_t value) {
  if (is_complex(dtype)) return store_complex(dtype, data, i, static_cast<double>(value));
  const uint64_t pattern =
      is_float(dtype) ? encode_float(dtype, round_integer_to(dtype, DType::i64, value)) : static_cast<uint64_t>(wrap_integer(dtype, value));
  store_bits(data, bits_of(dtype), i, pattern);
}

}  // namespace

double Tensor::number(int64_t i) const {
  TENON_ASSERT(i >= 0 && i < count_ && data_ != nullptr);
  return load_number(dtype_, data_, i);
}

int64_t Tensor::integer(int64_t i) const {
  TENON_ASSERT(i >= 0 && i < count_ && data_ != nullptr);
  return load_integer(dtype_, data_, i);
}

void Tensor::set_number(int64_t i, double value) {
  TENON_ASSERT(i >= 0 && i < count_ && data_ != nullptr);
  store_number(dtype_, data_, i, value);
}

void Tensor::set_integer(int64_t i, int64_t value) {
  TENON_ASSERT(i >= 0 && i < count_ && data_ != nullptr);
  store_integer(dtype_, data_, i, value);
}

std::vector<double> numbers_of(const Tensor& t) {
  std::vector<double> out(static_cast<size_t>(t.count()));
  for (int64_t i = 0; i < t.count(); ++i) out[static_cast<size_t>(i)] = load_number(t.dtype(), t.data(), i);
  return out;
}

std::vector<int64_t> integers_of(const Tensor& t) {
  std::vector<int64_t> out(static_cast<size_t>(t.count()));
  for (int64_t i = 0; i < t.count(); ++i) out[static_cast<size_t>(i)] = load_integer(t.dtype(), t.data(), i);
  return out;
}

void store_numbers(Tensor& t, std::span<const double> values) {
  TENON_ASSERT(static_cast<int64_t>(values.size()) == t.count());
  for (int64_t i = 0; i < t.count(); ++i) store_number(t.dtype(), t.mutable_data(), i, values[static_cast<size_t>(i)]);
}

void store_integers(Tensor& t, std::span<const int64_t> values) {
  TENON_ASSERT(static_cast<int64_t>(values.size()) == t.count());
  for (int64_t i = 0; i < t.count(); ++i) store_integer(t.dtype(), t.mutable_data(), i, values[static_cast<size_t>(i)]);
}

}  // namespace tenon::inline base
