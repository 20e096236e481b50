// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// How Tenon treats a field of a BuildConfig.
enum class FieldUse : uint8_t {
  honoured,   ///< it has the effect that it has in TensorRT-LLM
  no_effect,  ///< any value is accepted and ignored; `meaning` gives the reason
  refused,    ///< any value but the default, null, false, 0 or an empty one is an error
  not_yet,    ///< likewise, with the error "not supported yet"
};
/// "honoured", "no effect", "refused", "not supported yet".
std::string_view name_of(FieldUse use);

/// The type of a field's value. switched: true, false, "enable" or "disable". name: one of `names`. flag: one of `names` too, or its
/// number, a power of two.
enum class FieldKind : uint8_t { boolean, switched, integer, text, name, flag, object };

/// A field of TensorRT-LLM's BuildConfig (tensorrt_llm/builder.py) or PluginConfig (tensorrt_llm/plugin/plugin.py), of versions 0.12
/// to 1.0. The reader, Python's classes and the tables of docs/llm.md follow from it.
struct BuildConfigField {
  std::string_view object = {};  ///< "plugin_config"; empty: BuildConfig's own
  std::string_view name = {};
  FieldKind kind = FieldKind::boolean;
  std::string_view names = {};     ///< valid names, separated by spaces
  bool nullable = false;           ///< null is valid
  int64_t least = 0;               ///< smallest value of an integer
  std::string_view standard = {};  ///< default value, as JSON
  FieldUse use = FieldUse::no_effect;
  std::string_view meaning = {};  ///< its effect, or the reason why it has none
};

/// All fields in the order of TensorRT-LLM, then those that its later versions lack.
std::span<const BuildConfigField> build_config_fields();
/// The field of that name; null where there is none.
const BuildConfigField* find_build_config_field(std::string_view object, std::string_view name);
/// "int or null", "PAGED, CONTINUOUS, DISABLED or null".
std::string type_text(const BuildConfigField& field);
/// The names in `names`, one by one.
std::vector<std::string> names_of(const BuildConfigField& field);

}  // namespace tenon::compiler
