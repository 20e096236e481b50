// SPDX-License-Identifier: Apache-2.0
#include "nn/hyperparameters.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"

namespace tenon::nn {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 31;

std::string text_of(const Hyperparameters::Value& value) {
  return std::visit([](const auto& v) { return fmt::format("{}", v); }, value);
}

Error wrong(std::string_view key, std::string expected, const Hyperparameters::Value& found) {
  return fail(Code::bad_input, fmt::format("hyperparameter '{}'", key), "its value cannot be used")
      .expected(std::move(expected))
      .found(text_of(found));
}

}  // namespace

const Hyperparameters::Value* Hyperparameters::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

Result<int64_t> Hyperparameters::size(std::string_view key) const {
  if (has(key)) return size(key, 0);
  std::vector<std::string> keys;
  for (const auto& [name, value] : values_) keys.push_back(name);
  return fail(Code::bad_input, fmt::format("hyperparameter '{}'", key), "the model does not have it")
      .expected(fmt::format("a number of 1 to {}", kMaxSize))
      .found("nothing")
      .advice(did_you_mean(key, keys));
}

Result<int64_t> Hyperparameters::size(std::string_view key, int64_t default_value) const {
  const Value* const value = find(key);
  if (!value) return default_value;
  const auto* const number = std::get_if<int64_t>(value);
  if (!number || *number < 1 || *number > kMaxSize) return wrong(key, fmt::format("an integer of 1 to {}", kMaxSize), *value);
  return *number;
}

Result<double> Hyperparameters::number(std::string_view key, double default_value) const {
  const Value* const value = find(key);
  if (!value) return default_value;
  if (const auto* const integer = std::get_if<int64_t>(value)) return static_cast<double>(*integer);
  const auto* const number = std::get_if<double>(value);
  if (!number || !std::isfinite(*number)) return wrong(key, "a finite number", *value);
  return *number;
}

Result<std::string> Hyperparameters::text(std::string_view key, std::string_view default_value) const {
  const Value* const value = find(key);
  if (!value) return std::string(default_value);
  if (const auto* const text = std::get_if<std::string>(value)) return *text;
  return wrong(key, "a string", *value);
}

Result<bool> Hyperparameters::flag(std::string_view key, bool default_value) const {
  const Value* const value = find(key);
  if (!value) return default_value;
  if (const auto* const flag = std::get_if<bool>(value)) return *flag;
  return wrong(key, "true or false", *value);
}

Result<std::vector<double>> Hyperparameters::numbers(std::string_view key) const {
  const Value* const value = find(key);
  if (!value) return std::vector<double>{};
  const auto* const numbers = std::get_if<std::vector<double>>(value);
  if (!numbers || !std::ranges::all_of(*numbers, [](double v) { return std::isfinite(v); }))
    return wrong(key, "a list of finite numbers", *value);
  return *numbers;
}

}  // namespace tenon::nn
