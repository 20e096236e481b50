// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

/// What becomes of a field of a BuildConfig here.
enum class FieldUse : uint8_t {
  honoured,   ///< it means what it says
  no_effect,  ///< any value is accepted; the meaning says why nothing follows
  refused,    ///< any value but the standard one, null, and what is like it (false, 0, empty) is an error
  not_yet,    ///< the same, "not supported yet"
};
/// "honoured", "no effect", "refused", "not supported yet".
std::string_view name_of(FieldUse use);

/// switched: true, false, "enable" or "disable". name: one of `names`. flag: one of `names` too, or its number, a power of two.
enum class FieldKind : uint8_t { boolean, switched, integer, text, name, flag, object };

/// A field of TensorRT-LLM's BuildConfig (tensorrt_llm/builder.py) or PluginConfig (tensorrt_llm/plugin/plugin.py), of versions 0.12
/// to 1.0. The reader, Python's classes and the tables of docs/llm.md follow from it.
struct BuildConfigField {
  std::string_view object = {};  ///< "plugin_config"; empty: BuildConfig's own
  std::string_view name = {};
  FieldKind kind = FieldKind::boolean;
  std::string_view names = {};  ///< a space between two
  bool nullable = false;
  int64_t least = 0;               ///< of an integer
  std::string_view standard = {};  ///< as JSON
  FieldUse use = FieldUse::no_effect;
  std::string_view meaning = {};  ///< what it does, or why nothing does
};

/// In the order of the original; fields that it has dropped last.
std::span<const BuildConfigField> build_config_fields();
/// Null: there is no such field.
const BuildConfigField* find_build_config_field(std::string_view object, std::string_view name);
/// "int or null", "PAGED, CONTINUOUS, DISABLED or null".
std::string type_text(const BuildConfigField& field);
std::vector<std::string> names_of(const BuildConfigField& field);

}  // namespace tenon::compiler
