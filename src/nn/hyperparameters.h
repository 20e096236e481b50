// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace tenon::nn {

/// The hyperparameters of a network by name: numbers, booleans and strings. Keys are those of GGUF without the architecture in front:
/// "block_count", "attention.head_count" (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md); readers of other formats translate to
/// them.
class Hyperparameters {
 public:
  using Value = std::variant<int64_t, double, bool, std::string, std::vector<double>>;

  void set(std::string key, Value value) { values_.insert_or_assign(std::move(key), std::move(value)); }
  bool has(std::string_view key) const { return values_.contains(key); }

  /// A number of 1 to 2^31. Errors: bad_input where it is missing or has another value.
  Result<int64_t> size(std::string_view key) const;
  Result<int64_t> size(std::string_view key, int64_t default_value) const;
  /// A finite number. Errors: bad_input where the value is not finite or no number.
  Result<double> number(std::string_view key, double default_value) const;
  /// A string, true or false. Errors: bad_input where the value is of another kind.
  Result<std::string> text(std::string_view key, std::string_view default_value) const;
  Result<bool> flag(std::string_view key, bool default_value) const;
  /// Finite numbers; empty where there are none.
  Result<std::vector<double>> numbers(std::string_view key) const;

 private:
  const Value* find(std::string_view key) const;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace tenon::nn
