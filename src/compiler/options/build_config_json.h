// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "compiler/options/build_config_fields.h"

namespace tenon::compiler {

/// A BuildConfig as JSON, whose fields exist and have their types.
class BuildConfigJson {
 public:
  /// text: an object with fields of BuildConfig, or with such an object as `build_config` (config.json beside an engine of TensorRT-LLM).
  /// place: the file, for errors. Errors: bad_file (no JSON); bad_input (unknown fields, with the nearest name; values of another type).
  static Result<BuildConfigJson> parse(std::string_view text, std::string place);

  /// The value of a field, the standard one where it is missing. "enable" and "disable" are
  /// returned as true and false, the name of a flag as its number.
  nlohmann::json value(const BuildConfigField& field) const;
  nlohmann::json value(std::string_view name, std::string_view object = {}) const;
  /// The values of all fields.
  nlohmann::ordered_json all() const;
  /// Where the text has a field, for errors: "FILE:12, plugin_config.gemm_plugin" (12: the line).
  std::string place_of(std::string_view object, std::string_view name) const;

 private:
  BuildConfigJson(std::string_view text, std::string place) : text_(text), place_(std::move(place)) {}
  Result<void> check(std::string_view object, const nlohmann::json& members) const;
  Result<void> check_type(const BuildConfigField& field, const nlohmann::json& value) const;
  const nlohmann::json* find(const BuildConfigField& field) const;

  std::string text_, place_;
  nlohmann::json fields_;
};

}  // namespace tenon::compiler
