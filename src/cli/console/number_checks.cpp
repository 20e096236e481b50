// SPDX-License-Identifier: Apache-2.0
#include "cli/console/number_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

namespace tenon::cli {
namespace {

/// The number that the whole text states; nullopt: it is none.
template <class T>
std::optional<T> parsed(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

template <class T>
CLI::Validator check(const char* kind, const std::string& bounds, std::function<bool(T)> holds) {
  return CLI::Validator(
      [kind, bounds, holds = std::move(holds)](std::string& text) {
        const auto value = parsed<T>(text);
        return value && holds(*value) ? std::string() : fmt::format("{} ({}) is expected, found '{}'", kind, bounds, text);
      },
      bounds);
}

}  // namespace

CLI::Validator at_least(int64_t least) {
  return check<int64_t>("a whole number", fmt::format("{} or more", least), [least](int64_t value) { return value >= least; });
}

CLI::Validator between(int64_t least, int64_t most) {
  return check<int64_t>("a whole number", fmt::format("{} to {}", least, most),
                        [least, most](int64_t value) { return value >= least && value <= most; });
}

CLI::Validator seed_number() {
  return check<uint64_t>("a whole number", "0 to 2^64 - 1", [](uint64_t) { return true; });
}

CLI::Validator more_than_zero() {
  return check<double>("a number", "more than 0", [](double value) { return value > 0 && std::isfinite(value); });
}

CLI::Validator zero_or_more() {
  return check<double>("a number", "0 or more", [](double value) { return value >= 0 && std::isfinite(value); });
}

}  // namespace tenon::cli
