// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/number_format.h"

#include <fmt/format.h>

#include <cmath>

#include "llm/template/values/characters.h"
#include "llm/template/values/written.h"

namespace tenon::llm::jinja {
namespace {

/// The widest field and the largest precision; beyond them is an error, as texts of a prompt have no such fields.
constexpr int64_t kWidest = 1'000'000, kMostPrecise = 1'000;

Result<void> check(RenderState& state, const FormatStyle& style) {
  if (style.width > kWidest || style.precision > kWidest)
    return fail(Code::limit_exceeded, "", "a format is too wide").found(std::to_string(std::max(style.width, style.precision)));
  return state.take(static_cast<uint64_t>(style.width));
}

std::string padded(const std::string& prefix, const std::string& body, const FormatStyle& style, char standard) {
  const auto length = static_cast<int64_t>(character_count(prefix) + character_count(body));
  const int64_t missing = std::max<int64_t>(style.width - length, 0);
  const char align = style.align ? style.align : standard;
  const int64_t left = align == '<' || align == '=' ? 0 : align == '^' ? missing / 2 : missing;
  const auto fill = [&](int64_t count) {
    std::string out;
    for (int64_t i = 0; i < count; ++i) out += style.fill;
    return out;
  };
  if (align == '=') return prefix + fill(missing) + body;
  return fill(left) + prefix + body + fill(missing - left);
}

/// Digits with a separator every three of them before the point.
std::string grouped(const std::string& digits, char separator, size_t every) {
  if (!separator) return digits;
  const size_t whole = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string out;
  for (size_t i = 0; i < whole; ++i) {
    if (i > 0 && (whole - i) % every == 0) out += separator;
    out += digits[i];
  }
  return out + digits.substr(whole);
}

std::string sign_of(bool negative, char sign) { return negative ? "-" : sign == '-' ? "" : std::string(1, sign); }

std::string float_digits(double value, const FormatStyle& style) {
  const int precision = style.precision < 0 ? 6 : static_cast<int>(std::min(style.precision, kMostPrecise));
  switch (style.type) {
    case 'e': return style.alternate ? fmt::format("{:#.{}e}", value, precision) : fmt::format("{:.{}e}", value, precision);
    case 'E': return style.alternate ? fmt::format("{:#.{}E}", value, precision) : fmt::format("{:.{}E}", value, precision);
    case 'f':
    case 'F': return style.alternate ? fmt::format("{:#.{}f}", value, precision) : fmt::format("{:.{}f}", value, precision);
    case 'g':
    case 'n': return style.alternate ? fmt::format("{:#.{}g}", value, precision) : fmt::format("{:.{}g}", value, precision);
    case 'G': return style.alternate ? fmt::format("{:#.{}G}", value, precision) : fmt::format("{:.{}G}", value, precision);
    case '%': return fmt::format("{:.{}f}%", value * 100, precision);
    default: break;
  }
  if (style.precision < 0) return text_of(value);
  std::string out = fmt::format("{:.{}g}", value, std::max<int64_t>(style.precision, 1));
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

}  // namespace

Result<std::string> format_integer(RenderState& state, int64_t value, const FormatStyle& style) {
  TRY(check(state, style));
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::string digits, prefix = sign_of(value < 0, style.sign);
  switch (style.type) {
    case 'x': digits = fmt::format("{:x}", magnitude); break;
    case 'X': digits = fmt::format("{:X}", magnitude); break;
    case 'o': digits = fmt::format("{:o}", magnitude); break;
    case 'b': digits = fmt::format("{:b}", magnitude); break;
    case 'c':
      if (value < 0 || value > 0x10ffff) return run_error("the number is no character").found(std::to_string(value));
      append_character(digits, static_cast<char32_t>(value));
      return padded("", digits, style, '<');
    default: digits = std::to_string(magnitude);
  }
  if (style.alternate && (style.type == 'x' || style.type == 'X' || style.type == 'o' || style.type == 'b'))
    prefix += std::string("0") + style.type;
  const bool is_decimal = style.type == 0 || style.type == 'd' || style.type == 'n';
  return padded(prefix, grouped(digits, style.grouping, is_decimal ? 3 : 4), style, '>');
}

Result<std::string> format_float(RenderState& state, double value, const FormatStyle& style) {
  TRY(check(state, style));
  const bool negative = std::signbit(value) && !std::isnan(value);
  std::string digits;
  if (std::isfinite(value)) {
    digits = grouped(float_digits(std::fabs(value), style), style.grouping, 3);
  } else {
    const bool upper = style.type == 'E' || style.type == 'F' || style.type == 'G';
    digits = std::isnan(value) ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf");
    if (style.type == '%') digits += '%';
  }
  return padded(sign_of(negative, style.sign), digits, style, '>');
}

Result<std::string> format_text(RenderState& state, std::string_view value, const FormatStyle& style) {
  TRY(check(state, style));
  std::string text(value);
  if (style.precision >= 0 && static_cast<uint64_t>(style.precision) < character_count(value))
    text = text_of(std::u32string_view(characters_of(value)).substr(0, static_cast<size_t>(style.precision)));
  return padded("", text, style, '<');
}

}  // namespace tenon::llm::jinja
