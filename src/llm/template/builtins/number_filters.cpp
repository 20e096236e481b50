// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>
#include <optional>

#include "llm/template/builtins/filters.h"
#include "llm/template/builtins/operators.h"
#include "llm/template/values/characters.h"

namespace tenon::llm::jinja {
namespace {

/// A number as Python's float() and int() read it: white space around, underscores between digits.
std::optional<std::string> plain_number(std::string_view text) {
  std::string out;
  text = stripped(text, Ends::both);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const auto is_digit_at = [&](size_t k) {
      return k < text.size() && ((text[k] >= '0' && text[k] <= '9') || ((text[k] | 0x20) >= 'a' && (text[k] | 0x20) <= 'z'));
    };
    if (i == 0 || !is_digit_at(i - 1) || !is_digit_at(i + 1)) return std::nullopt;
  }
  return out;
}

std::optional<double> float_of(std::string_view text) {
  std::optional<std::string> number = plain_number(text);
  if (!number) return std::nullopt;
  std::string_view rest = *number;
  if (rest.starts_with('+') && !rest.starts_with("+-")) rest.remove_prefix(1);
  double out = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), out);
  if (end != rest.data() + rest.size() || rest.empty() || rest.ends_with(')')) return std::nullopt;
  if (error == std::errc::result_out_of_range) return std::strtod(std::string(rest).c_str(), nullptr);
  return error == std::errc() ? std::optional(out) : std::nullopt;
}

/// overflows: the text is a number beyond 63 bits.
std::optional<int64_t> integer_of_text(std::string_view text, int64_t base, bool& overflows) {
  std::optional<std::string> number = plain_number(text);
  if (!number) return std::nullopt;
  std::string_view rest = *number;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const auto has_prefix = [&](char letter) { return rest.size() > 2 && rest[0] == '0' && (rest[1] | 0x20) == letter; };
  for (const auto& [letter, of] : {std::pair{'x', 16}, std::pair{'o', 8}, std::pair{'b', 2}}) {
    if (!has_prefix(letter) || (base != of && base != 0)) continue;
    rest.remove_prefix(2);
    base = of;
    break;
  }
  if (base == 0) base = 10;
  uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), magnitude, static_cast<int>(base));
  if (rest.empty() || end != rest.data() + rest.size()) return std::nullopt;
  overflows = error == std::errc::result_out_of_range || magnitude > uint64_t{INT64_MAX};
  if (overflows) return std::nullopt;
  return negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

Error too_large() { return fail(Code::not_supported, "", "not supported yet: integers beyond 63 bits"); }

Result<Value> truncated(double number, const Value& otherwise) {
  if (std::isnan(number) || std::isinf(number)) return otherwise;
  if (std::fabs(number) >= 0x1p63) return too_large();
  return Value::integer(static_cast<int64_t>(number));
}

Result<Value> to_integer(RenderState&, const Value& value, Bound& arguments) {
  const Value otherwise = arguments[0].is_absent() ? Value::integer(0) : arguments[0];
  const int64_t base = TRY(integer_argument(arguments[1], 10, "base"));
  if (base != 0 && (base < 2 || base > 36)) return otherwise;
  if (value.is_undefined()) return undefined_error(value);
  int64_t integer = 0;
  if (integer_of(value, integer)) return Value::integer(integer);
  if (const double* number = value.as<double>()) {
    if (std::isinf(*number)) return run_error("int: infinity is no int");
    return truncated(*number, otherwise);
  }
  const std::string* text = value.text();
  if (!text) return otherwise;
  bool overflows = false;
  if (const auto parsed = integer_of_text(*text, base, overflows)) return Value::integer(*parsed);
  if (overflows) return too_large();
  const auto number = float_of(*text);
  return number ? truncated(*number, otherwise) : otherwise;
}

Result<Value> to_float(RenderState&, const Value& value, Bound& arguments) {
  if (value.is_undefined()) return undefined_error(value);
  if (is_number(value)) return Value::floating(number_of(value));
  if (const std::string* text = value.text())
    if (const auto number = float_of(*text)) return Value::floating(*number);
  return arguments[0].is_absent() ? Value::floating(0) : arguments[0];
}

/// Python's round(): half to even, of the decimal that the float is.
double rounded(double value, int64_t precision) {
  if (!std::isfinite(value) || precision > 300) return value;
  if (precision >= 0) {
    char buffer[700];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, static_cast<int>(precision)).ptr;
    return std::strtod(std::string(buffer, end).c_str(), nullptr);
  }
  const double unit = std::pow(10.0, static_cast<double>(-precision));
  return std::nearbyint(value / unit) * unit;
}

Result<Value> round(RenderState&, const Value& value, Bound& arguments) {
  const int64_t precision = TRY(integer_argument(arguments[0], 0, "precision"));
  const std::string method = arguments[1].is_absent() ? "common" : TRY(text_argument(arguments[1], "method"));
  if (value.is_undefined()) return undefined_error(value);
  if (!is_number(value)) return run_error("round: the value is no number").found(std::string(type_name(value)));
  int64_t integer = 0;
  const double number = number_of(value), unit = std::pow(10.0, static_cast<double>(precision));
  if (method == "ceil") return Value::floating(std::ceil(number * unit) / unit);
  if (method == "floor") return Value::floating(std::floor(number * unit) / unit);
  if (method != "common") return run_error("round: unknown method").expected("common, ceil or floor").found("'" + method + "'");
  if (!integer_of(value, integer)) return Value::floating(rounded(number, precision));
  return Value::integer(precision >= 0 ? integer : static_cast<int64_t>(rounded(number, precision)));
}

Result<Value> absolute(RenderState& state, const Value& value, Bound&) {
  int64_t integer = 0;
  if (integer_of(value, integer)) return integer < 0 ? negate(state, value) : Value::integer(integer);
  if (value.is<double>()) return Value::floating(std::fabs(number_of(value)));
  if (value.is_undefined()) return undefined_error(value);
  return run_error("abs: the value is no number").found(std::string(type_name(value)));
}

constexpr Builtin kNumberFilters[] = {
    {.name = "abs", .parameters = "", .apply = absolute},
    {.name = "int", .parameters = "?default base", .apply = to_integer},
    {.name = "float", .parameters = "?default", .apply = to_float},
    {.name = "round", .parameters = "?precision method", .apply = round},
};

}  // namespace

std::span<const Builtin> number_filters() { return kNumberFilters; }

}  // namespace tenon::llm::jinja
