// SPDX-License-Identifier: Apache-2.0
#include "compiler/load.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/backends.h"
#include "compiler/compile.h"
#include "compiler/portable.h"
#include "engine/reader.h"
#include "files/mapped_file.h"
#include "plugin/public/plugins.h"
#include "runtime/load.h"

namespace tenon::compiler {

namespace {

/// The level, the precision and the backends that the engine was built for; the usual ones where the manifest does not say. Errors:
/// bad_usage for a backend that is not linked in.
Result<CompileOptions> options_of(std::span<const std::byte> manifest, std::shared_ptr<const Registry> registry) {
  CompileOptions out;
  out.registry = std::move(registry);
  const auto json =
      nlohmann::json::parse(std::string_view(reinterpret_cast<const char*>(manifest.data()), manifest.size()), nullptr, false);
  if (!json.is_object()) return out;
  if (json.contains("opt") && json["opt"].is_number_integer()) out.opt = std::clamp(json["opt"].get<int>(), 0, 3);
  if (json.contains("precision") && json["precision"].is_string())
    out.precision = TRY(codegen::precision_named(json["precision"].get<std::string>()));
  if (!json.contains("backends") || !json["backends"].is_array()) return out;
  std::vector<std::string> names;
  for (const auto& name : json["backends"])
    if (name.is_string()) names.push_back(name.get<std::string>());
  out.backends = TRY(out.registry->named(names));
  return out;
}

/// Names of the entries of a portable engine.
Result<std::vector<std::string>> entry_names(std::span<const std::byte> manifest, const std::string& place) {
  const auto json =
      nlohmann::json::parse(std::string_view(reinterpret_cast<const char*>(manifest.data()), manifest.size()), nullptr, false);
  std::vector<std::string> names;
  if (json.is_object() && json.contains("entries") && json["entries"].is_array())
    for (const auto& name : json["entries"])
      if (name.is_string()) names.push_back(name.get<std::string>());
  if (names.empty()) names.emplace_back("main");
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) == sorted.end() && sorted[0] != "") return names;
  return fail(Code::bad_file, place, "the manifest names an entry twice, or one without a name").expected("names that differ");
}

/// Before the graph is read, which may name ops of theirs.
Result<void> check_plugins(const engine::Reader& reader, const runtime::Libraries& libraries, const std::string& place) {
  const auto section = reader.find(engine::SectionType::plugins);
  if (!section) return {};
  const auto saved = TRY(plugin::decode_all({reinterpret_cast<const char*>(section->data()), section->size()}));
  const plugin::Registry none;
  TRY(plugin::find_all(libraries.plugins ? *libraries.plugins : none, saved, libraries.plugin_build, place));
  return {};
}

bool is_portable(const engine::Reader& reader) {
  const bool has_code =
      std::ranges::any_of(reader.sections(), [](const engine::Section& s) { return s.type == engine::SectionType::code; });
  return !has_code && reader.find(engine::SectionType::constants_index);
}

Result<Recompiled> compile_portable(const engine::Reader& reader, const LoadOptions& options, std::shared_ptr<const Registry> registry,
                                    const std::string& place) {
  const auto manifest = TRY(reader.require(engine::SectionType::manifest));
  const std::vector<std::string> names = TRY(entry_names(manifest, place));
  std::string missing;
  if (auto plugins = check_plugins(reader, options.libraries, place); !plugins) {
    if (plugins.error().code() != Code::not_supported || !has_plugin_free_graph(reader, names.size())) return std::move(plugins).error();
    missing = runtime::missing_text(plugins.error());
  }
  TRY(reader.verify_all());
  CompileOptions compiling = TRY(options_of(manifest, std::move(registry)));
  compiling.threads = options.threads;
  auto entries = TRY(read_graphs(reader, names, *options.ops, place, !missing.empty()));
  return Recompiled{TRY(compile(std::move(entries), compiling)), std::move(missing)};
}

}  // namespace

Result<std::optional<Recompiled>> compile_if_portable(const std::filesystem::path& path, const LoadOptions& options) {
  const auto file = TRY(files::MappedFile::open(path));
  const engine::Reader reader = TRY(engine::Reader::open(file->bytes(), file, path.string()));
  if (!is_portable(reader)) return std::nullopt;
  return TRY(compile_portable(reader, options, TRY(Registry::make(options.libraries)), path.string()));
}

Result<std::shared_ptr<runtime::Engine>> load(const std::filesystem::path& path, const LoadOptions& options) {
  if (auto portable = TRY(compile_if_portable(path, options)))
    return load_compiled(std::move(portable->compiled), {}, std::move(portable->missing));
  const auto registry = TRY(Registry::make(options.libraries));
  return runtime::load_engine(path, {.verify = options.verify, .devices = registry->devices(*options.ops)});
}

}  // namespace tenon::compiler
