// SPDX-License-Identifier: Apache-2.0
#include "ir/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "base/threads/thread_pool.h"

namespace tenon::ir {

static std::string escaped(char c) {
  const auto u = static_cast<unsigned char>(c);
  if (c == '"' || c == '\\') return {'\\', c};
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  return u < 0x20 || u == 0x7f ? fmt::format("\\x{:02x}", u) : std::string(1, c);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) out += escaped(c);
  return out + '"';
}

bool is_bare_name(std::string_view text) {
  if (text.empty() || !starts_name(text[0])) return false;
  for (char c : text) {
    if (!continues_name(c)) return false;
  }
  if (text.find("//") != text.npos) return false;  // a comment
  for (std::string_view word : {"_", "const", "return", "graph", "symbol", "opset", "inf", "nan", "true", "false"}) {
    if (text == word) return false;
  }
  return true;
}

std::string name_text(std::string_view name) { return is_bare_name(name) ? std::string(name) : quoted(name); }

template <class T>
static std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return fmt::format("{}", value);
}

std::string number_text(float value) { return shortest(value); }
std::string number_text(double value) { return shortest(value); }

std::string float_literal(float value) {
  std::string text = number_text(value);
  return text.find_first_of(".en") == text.npos ? text + ".0" : text;
}

static std::string complex_text(const Tensor& t, int64_t i) {
  if (t.dtype() == DType::c64) {
    const float* p = reinterpret_cast<const float*>(t.data()) + 2 * i;
    return "(" + number_text(p[0]) + ", " + number_text(p[1]) + ")";
  }
  const double* p = reinterpret_cast<const double*>(t.data()) + 2 * i;
  return "(" + number_text(p[0]) + ", " + number_text(p[1]) + ")";
}

std::string element_text(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::string: return quoted(t.strings()[static_cast<size_t>(i)]);
    case DType::boolean: return t.integer(i) ? "true" : "false";
    case DType::f64: return number_text(t.as<double>()[static_cast<size_t>(i)]);
    case DType::u64: return fmt::format("{}", t.as<uint64_t>()[static_cast<size_t>(i)]);
    case DType::c64:
    case DType::c128: return complex_text(t, i);
    default: break;
  }
  // Every narrower float is exact in f32.
  if (is_float(t.dtype())) return number_text(static_cast<float>(t.number(i)));
  return fmt::format("{}", t.integer(i));
}

std::string elements_text(const Tensor& t) {
  std::string out = "[";
  for (int64_t i = 0; i < t.count(); ++i) {
    if (i) out += ", ";
    out += element_text(t, i);
  }
  return out + "]";
}

bool is_splat(const Tensor& t) {
  int bits = bits_of(t.dtype());
  if (t.count() < 2 || bits < 8) return false;
  auto width = static_cast<size_t>(bits / 8);
  // Each element equals the one before it.
  return std::memcmp(t.data(), t.data() + width, width * static_cast<size_t>(t.count() - 1)) == 0;
}

bool same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::none) return true;
  if (a.dtype() == DType::string) return a.strings() == b.strings();
  if (a.holds_tensors()) return std::ranges::equal(a.elements(), b.elements(), [](const Tensor& x, const Tensor& y) { return same(x, y); });
  if (a.data() == b.data() || a.byte_size() == 0) return true;
  return std::memcmp(a.data(), b.data(), static_cast<size_t>(a.byte_size())) == 0;
}

/// In pieces, by all threads: a model's weights are hundreds of megabytes.
static uint64_t hash_of_bytes(std::span<const std::byte> bytes) {
  constexpr size_t kPiece = 1 << 20;
  if (bytes.size() <= kPiece) return hash128(bytes).low;
  std::vector<uint64_t> pieces((bytes.size() + kPiece - 1) / kPiece);
  default_thread_pool().run(static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end, int) {
    for (auto k = static_cast<size_t>(begin); k < static_cast<size_t>(end); ++k)
      pieces[k] = hash128(bytes.subspan(k * kPiece, std::min(kPiece, bytes.size() - k * kPiece))).low;
  });
  return hash128(std::as_bytes(std::span(pieces))).low;
}

size_t hash_of(const Tensor& t) {
  size_t h = static_cast<size_t>(t.dtype());
  auto mix = [&](size_t v) { h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2); };
  for (int64_t s : t.shape()) mix(static_cast<size_t>(s));
  if (t.dtype() == DType::none) return h;
  if (t.dtype() == DType::string) {
    for (const std::string& s : t.strings()) mix(std::hash<std::string>{}(s));
    return h;
  }
  if (t.byte_size() > 0) mix(hash_of_bytes({t.data(), static_cast<size_t>(t.byte_size())}));
  return h;
}

}  // namespace tenon::ir
