// SPDX-License-Identifier: Apache-2.0
#include "compiler/options/build_config_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"

namespace tenon::compiler {
namespace {

std::string_view class_of(std::string_view object) { return object.empty() ? "BuildConfig" : "PluginConfig"; }

/// Whether the names differ in case alone.
bool is_same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// The offset of `"name":` in the text, at or after `from`; npos: there is none.
size_t find_key(std::string_view text, std::string_view name, size_t from) {
  const std::string quoted = fmt::format("\"{}\"", name);
  for (size_t at = text.find(quoted, from); at != text.npos; at = text.find(quoted, at + 1)) {
    const size_t next = text.find_first_not_of(" \t\r\n", at + quoted.size());
    if (next != text.npos && text[next] == ':') return at;
  }
  return text.npos;
}

/// Index of the name that the value is; nullopt: of none.
std::optional<size_t> name_index(const BuildConfigField& field, const nlohmann::json& value) {
  const std::vector<std::string> names = names_of(field);
  for (size_t k = 0; k < names.size(); ++k) {
    if (value.is_string() && is_same_name(value.get_ref<const std::string&>(), names[k])) return k;
    if (field.kind == FieldKind::flag && value.is_number_unsigned() && value.get<uint64_t>() == uint64_t{1} << k) return k;
  }
  return std::nullopt;
}

bool is_word(const nlohmann::json& value, std::string_view word) {
  return value.is_string() && value.get_ref<const std::string&>() == word;
}

bool has_type(const BuildConfigField& field, const nlohmann::json& value) {
  if (value.is_null()) return field.nullable || field.kind == FieldKind::object;
  const bool may_be_disabled = field.kind == FieldKind::name && field.nullable;
  switch (field.kind) {
    case FieldKind::boolean: return value.is_boolean();
    case FieldKind::switched: return value.is_boolean() || is_word(value, "enable") || is_word(value, "disable");
    case FieldKind::integer:
      return value.is_number_integer() && value.get<int64_t>() >= field.least &&
             (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t{1} << 40);
    case FieldKind::text: return value.is_string();
    case FieldKind::name:
    case FieldKind::flag: return name_index(field, value).has_value() || (may_be_disabled && is_word(value, "disable"));
    case FieldKind::object: return value.is_object();
  }
  return false;
}

std::string expected_text(const BuildConfigField& field) {
  const std::string type = type_text(field);
  if (field.kind == FieldKind::integer) return fmt::format("{}, {} or more", type, field.least);
  return field.kind == FieldKind::switched || field.kind == FieldKind::boolean ? field.nullable ? "true, false or null" : "true or false"
                                                                               : type;
}

}  // namespace

std::string BuildConfigJson::place_of(std::string_view object, std::string_view name) const {
  const std::string path = object.empty() ? std::string(name) : fmt::format("{}.{}", object, name);
  size_t from = object.empty() ? 0 : find_key(text_, object, 0);
  if (from == text_.npos) from = 0;
  const size_t at = find_key(text_, name, from);
  if (at == text_.npos) return fmt::format("{}, {}", place_, path);
  const auto line = 1 + std::ranges::count(std::string_view(text_).substr(0, at), '\n');
  return fmt::format("{}:{}, {}", place_, line, path);
}

Result<void> BuildConfigJson::check_type(const BuildConfigField& field, const nlohmann::json& value) const {
  if (has_type(field, value)) return {};
  return fail(Code::bad_input, place_of(field.object, field.name), fmt::format("the field of {} has no such value", class_of(field.object)))
      .expected(expected_text(field))
      .found(fmt::format("{}, {}", value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).substr(0, 60), value.type_name()));
}

Result<void> BuildConfigJson::check(std::string_view object, const nlohmann::json& members) const {
  for (const auto& [name, value] : members.items()) {
    const BuildConfigField* const field = find_build_config_field(object, name);
    if (field) {
      TRY(check_type(*field, value));
      continue;
    }
    std::vector<std::string_view> names;
    for (const BuildConfigField& f : build_config_fields())
      if (f.object == object) names.push_back(f.name);
    return fail(Code::bad_input, place_of(object, name), fmt::format("{} has no such field", class_of(object)))
        .expected(fmt::format("a field of {}, of which docs/llm.md has a table", class_of(object)))
        .found(fmt::format("'{}'", name))
        .advice(did_you_mean(name, names));
  }
  return {};
}

Result<BuildConfigJson> BuildConfigJson::parse(std::string_view text, std::string place) {
  BuildConfigJson out(text, std::move(place));
  out.fields_ = nlohmann::json::parse(text, nullptr, false);
  if (!out.fields_.is_object())
    return fail(Code::bad_file, out.place_, out.fields_.is_discarded() ? "the file is no JSON" : "the file is no BuildConfig")
        .expected("an object with fields of BuildConfig")
        .found(out.fields_.is_discarded() ? "another text" : out.fields_.type_name());
  if (const auto inner = out.fields_.find("build_config"); inner != out.fields_.end() && inner->is_object()) {
    nlohmann::json fields = std::move(*inner);
    out.fields_ = std::move(fields);
  }
  TRY(out.check("", out.fields_));
  if (const auto plugins = out.fields_.find("plugin_config"); plugins != out.fields_.end() && plugins->is_object())
    TRY(out.check("plugin_config", *plugins));
  return out;
}

const nlohmann::json* BuildConfigJson::find(const BuildConfigField& field) const {
  const nlohmann::json* of = &fields_;
  if (!field.object.empty()) {
    const auto object = fields_.find(field.object);
    if (object == fields_.end() || !object->is_object()) return nullptr;
    of = &*object;
  }
  const auto found = of->find(field.name);
  return found == of->end() ? nullptr : &*found;
}

nlohmann::ordered_json BuildConfigJson::all() const {
  auto out = nlohmann::ordered_json::object(), plugins = nlohmann::ordered_json::object();
  for (const BuildConfigField& field : build_config_fields()) (field.object.empty() ? out : plugins)[field.name] = value(field);
  out["plugin_config"] = std::move(plugins);
  return out;
}

nlohmann::json BuildConfigJson::value(const BuildConfigField& field) const {
  const nlohmann::json* const found = find(field);
  nlohmann::json out = found ? *found : nlohmann::json::parse(field.standard);
  if (field.kind == FieldKind::switched && out.is_string()) return is_word(out, "enable");
  if (const auto index = name_index(field, out)) return names_of(field)[*index];
  if (field.kind == FieldKind::name && is_word(out, "disable")) return nullptr;
  return out;
}

nlohmann::json BuildConfigJson::value(std::string_view name, std::string_view object) const {
  const BuildConfigField* const field = find_build_config_field(object, name);
  TENON_ASSERT(field);
  return value(*field);
}

}  // namespace tenon::compiler
