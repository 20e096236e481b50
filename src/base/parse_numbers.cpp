// SPDX-License-Identifier: Apache-2.0
#include "base/parse_numbers.h"

#include <charconv>
#include <limits>

namespace tenon::inline base {
namespace {

template <class T>
std::optional<T> read(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<int64_t> read_integer(std::string_view text) { return read<int64_t>(text); }

std::optional<uint64_t> read_unsigned(std::string_view text) { return read<uint64_t>(text); }

std::optional<double> read_float(std::string_view text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf" || text == "+inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return read<double>(text);
}

std::optional<float> read_f32(std::string_view text) {
  if (auto value = read<float>(text)) return value;
  auto wide = read_float(text);
  return wide ? std::optional(static_cast<float>(*wide)) : std::nullopt;
}

bool is_float_text(std::string_view text) { return text.find_first_of(".eEn") != text.npos; }

}  // namespace tenon::inline base
