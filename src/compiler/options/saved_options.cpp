// SPDX-License-Identifier: Apache-2.0
#include "compiler/options/saved_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

namespace tenon::compiler {

namespace {

using partition::MemoryLimit;
using partition::Narrowing;

/// `--without PASS`, which is no row of the table.
constexpr OptionRow kPasses{.name = "without", .flag = "--without", .value = "PASS", .help = ""};

/// Calls visit(row, value) for each option that is saved: those that the compiler reads as they are given, unless they concern the file or
/// runs of it; and those that became constraints or are passed on to plugins.
template <class Visit>
void for_each_saved(CodeOptions& options, runtime::Libraries& libraries, Visit visit) {
  for_each_scalar(options, [&](const OptionRow& row, auto& value) {
    if (!row.running && !row.saving) visit(row, value);
  });
  partition::Constraints& c = options.constraints;
  visit(option_row("assign"), c.assign);
  visit(option_row("segmenter"), c.segmenter);
  visit(option_row("min_block_size"), c.min_block_size);
  visit(option_row("memory"), c.memory);
  visit(option_row("narrow"), c.narrow);
  visit(option_row("require_full"), c.require_full);
  visit(option_row("prefer"), libraries.preferred_plugins);
  visit(option_row("plugin_tactics"), libraries.plugin_tactics);
}

Error bad_value(const OptionRow& row, std::string expected, const nlohmann::json& found, Code code = Code::bad_file) {
  return fail(code, fmt::format("option '{}'", row.name), "the engine was built with a value that the option does not have")
      .expected(std::move(expected))
      .found(found.dump().substr(0, 60))
      .advice("use a newer Tenon, or build the engine again with this one");
}

// --- a value as JSON, and back ---

template <class T>
nlohmann::ordered_json json_of(const OptionRow& row, const T& value) {
  if constexpr (std::is_enum_v<T>) return choices_of(row)[static_cast<size_t>(std::to_underlying(value))];
  else return value;
}

nlohmann::ordered_json json_of(const OptionRow&, const std::vector<MemoryLimit>& limits) {
  auto out = nlohmann::ordered_json::object();
  for (const MemoryLimit& limit : limits) out[limit.backend] = limit.bytes;
  return out;
}

nlohmann::ordered_json json_of(const OptionRow&, const std::vector<Narrowing>& narrowings) {
  auto out = nlohmann::ordered_json::object();
  for (const Narrowing& n : narrowings) out[std::string(name_of(n.from))] = name_of(n.to);
  return out;
}

template <class Enum>
  requires std::is_enum_v<Enum>
Result<void> read_value(const nlohmann::json& json, const OptionRow& row, Enum& out) {
  const auto names = choices_of(row);
  const auto found = json.is_string() ? std::ranges::find(names, json.get<std::string>()) : names.end();
  if (found == names.end()) return bad_value(row, fmt::format("{}", fmt::join(names, ", ")), json, Code::wrong_target);
  out = static_cast<Enum>(found - names.begin());
  return {};
}

template <std::integral T>
Result<void> read_value(const nlohmann::json& json, const OptionRow& row, T& out) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) return bad_value(row, "true or false", json);
    out = json.get<bool>();
  } else {
    // nlohmann::json wraps an unsigned number over 2^63 - 1 that is read as int64_t to a negative one.
    const bool fits = json.is_number_integer() && !(json.is_number_unsigned() && !std::in_range<int64_t>(json.get<uint64_t>()));
    const int64_t value = fits ? json.get<int64_t>() : 0;
    if (!fits || !std::in_range<T>(value) || value < row.least.value_or(value) || value > row.most.value_or(value))
      return bad_value(row, row.least || row.most ? bounds_of(row) : "an integer", json);
    out = static_cast<T>(value);
  }
  return {};
}

Result<void> read_value(const nlohmann::json& json, const OptionRow& row, std::string& out) {
  if (!json.is_string()) return bad_value(row, "text", json);
  out = json.get<std::string>();
  return {};
}

Result<void> read_value(const nlohmann::json& json, const OptionRow& row, std::vector<std::string>& out) {
  if (!json.is_array()) return bad_value(row, "a list of texts", json);
  for (const nlohmann::json& item : json) TRY(read_value(item, row, out.emplace_back()));
  return {};
}

Result<void> read_value(const nlohmann::json& json, const OptionRow& row, std::map<std::string, int32_t, std::less<>>& out) {
  if (!json.is_object()) return bad_value(row, "integers by name", json);
  for (const auto& [name, value] : json.items()) TRY(read_value(value, row, out[name]));
  return {};
}

Result<void> read_value(const nlohmann::json& json, const OptionRow& row, std::vector<MemoryLimit>& out) {
  if (!json.is_object()) return bad_value(row, "bytes by backend", json);
  for (const auto& [backend, bytes] : json.items()) TRY(read_value(bytes, row, out.emplace_back(backend).bytes));
  return {};
}

Result<void> read_value(const nlohmann::json& json, const OptionRow& row, std::vector<Narrowing>& out) {
  if (!json.is_object()) return bad_value(row, "element types by element type", json);
  for (const auto& [from, to] : json.items()) {
    const auto wide = dtype_named(from), narrow = to.is_string() ? dtype_named(to.get<std::string>()) : std::nullopt;
    if (!wide || !narrow) return bad_value(row, "element types by element type", json);
    out.push_back({*wide, *narrow});
  }
  return {};
}

}  // namespace

nlohmann::ordered_json saved_options(const CodeOptions& options, const runtime::Libraries& libraries) {
  CodeOptions given = options, defaults;
  runtime::Libraries given_libraries = libraries, default_libraries;
  std::map<std::string_view, nlohmann::ordered_json> usual;
  for_each_saved(defaults, default_libraries, [&](const OptionRow& row, const auto& value) { usual[row.name] = json_of(row, value); });
  auto out = nlohmann::ordered_json::object();
  for_each_saved(given, given_libraries, [&](const OptionRow& row, const auto& value) {
    if (auto json = json_of(row, value); json != usual[row.name]) out[std::string(row.name)] = std::move(json);
  });
  std::set<std::string, std::less<>> passes = options.off;
  for (const std::string& pass : disabled_passes(options)) passes.erase(pass);
  if (!passes.empty()) out[std::string(kPasses.name)] = passes;
  return out;
}

Result<void> read_options(const nlohmann::json& saved, std::string_view place, CodeOptions& options, runtime::Libraries& libraries) {
  if (!saved.is_object())
    return fail(Code::bad_file, std::string(place), "the options of the engine are no object").found(saved.type_name());
  std::set<std::string_view> known{kPasses.name};
  Result<void> status;
  for_each_saved(options, libraries, [&](const OptionRow& row, auto& value) {
    known.insert(row.name);
    if (const auto found = saved.find(row.name); status && found != saved.end()) status = read_value(*found, row, value);
  });
  TRY(std::move(status));
  for (const auto& [name, value] : saved.items())
    if (!known.contains(name))
      return fail(Code::wrong_target, std::string(place), fmt::format("the engine was built with the unknown option '{}'", name))
          .expected(fmt::format("{}", fmt::join(known, ", ")))
          .found(name)
          .advice("use a newer Tenon, or build the engine again with this one");
  options.off = disabled_passes(options);
  std::vector<std::string> passes;
  if (const auto found = saved.find(kPasses.name); found != saved.end()) TRY(read_value(*found, kPasses, passes));
  options.off.insert(passes.begin(), passes.end());
  return {};
}

Result<void> check_portable(const CodeOptions& options) {
  const partition::Constraints& c = options.constraints;
  const char* const name = !c.pins.empty()               ? "pins"
                           : !c.fallback_ops.empty()     ? "fallback_ops"
                           : !c.fallback_modules.empty() ? "fallback_modules"
                                                         : nullptr;
  if (!name) return {};
  return fail(Code::not_supported, fmt::format("option '{}'", name), fmt::format("not supported yet: {} of a portable engine", name))
      .expected("constraints that name no part of the model, or an engine with code")
      .found(std::string(option_row(name).flag))
      .advice("leave it out, or save the engine with its code");
}

}  // namespace tenon::compiler
