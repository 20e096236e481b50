// SPDX-License-Identifier: Apache-2.0
#include "compiler/load.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/backends.h"
#include "compiler/compile.h"
#include "compiler/options/saved_options.h"
#include "compiler/plugins.h"
#include "compiler/portable.h"
#include "engine/reader.h"
#include "files/mapped_file.h"
#include "plugin/public/plugins.h"
#include "runtime/load.h"

namespace tenon::compiler {

namespace {

/// The options of the table that the engine was built with. Manifests before `options` have the level alone, or level and precision.
Result<void> read_options_of(const nlohmann::json& manifest, const std::string& place, CodeOptions& out, runtime::Libraries& libraries) {
  if (const auto options = manifest.find("options"); options != manifest.end()) return read_options(*options, place, out, libraries);
  auto options = nlohmann::json::object();
  for (const char* name : {"opt", "precision"})
    if (const auto found = manifest.find(name); found != manifest.end()) options[name] = *found;
  return read_options(options, place, out, libraries);
}

/// The backends that the engine was built for, and how many of them the user listed; left empty where the manifest names none.
/// Errors: bad_usage for a backend that is not linked in.
Result<void> read_backends_of(const nlohmann::json& manifest, CompileOptions& out) {
  const auto backends = manifest.find("backends");
  if (backends == manifest.end() || !backends->is_array()) return {};
  std::vector<std::string> names;
  for (const auto& name : *backends)
    if (name.is_string()) names.push_back(name.get<std::string>());
  out.backends = TRY(out.registry->named(names));
  if (const auto listed = manifest.find("listed"); listed != manifest.end() && listed->is_number_unsigned())
    out.constraints.listed = std::min<size_t>(listed->get<uint64_t>(), out.backends.size());
  return {};
}

bool has_op(const ir::Graph& graph, const std::string& name) {
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (partition::op_name(*node.op) == name) return true;
    if (std::ranges::any_of(node.bodies, [&](const ir::Body& body) { return has_op(*body.graph, name); })) return true;
  }
  return false;
}

/// Preferred kernels, of plugins that are there, of ops that a rewritten graph still has.
Result<std::vector<partition::Pin>> preferred_of(const runtime::Libraries& libraries, std::span<const EntrySource> entries) {
  if (!libraries.plugins || libraries.preferred_plugins.empty()) return std::vector<partition::Pin>();
  auto out = TRY(preferences(*libraries.plugins, libraries.preferred_plugins));
  std::erase_if(out, [&](const partition::Pin& pin) {
    return std::ranges::none_of(entries, [&](const EntrySource& e) { return has_op(*e.source.graph, pin.name); });
  });
  return out;
}

/// The compile options with which the engine was built. Errors: those of read_options_of and read_backends_of.
Result<CompileOptions> options_of(std::span<const std::byte> manifest, runtime::Libraries libraries, const std::string& place) {
  CompileOptions out;
  const auto json =
      nlohmann::json::parse(std::string_view(reinterpret_cast<const char*>(manifest.data()), manifest.size()), nullptr, false);
  if (json.is_object()) TRY(read_options_of(json, place, out, libraries));
  out.registry = TRY(Registry::make(std::move(libraries)));
  if (json.is_object()) TRY(read_backends_of(json, out));
  return out;
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

Result<CompiledPortable> compile_portable(const engine::Reader& reader, const LoadOptions& options, const std::string& place) {
  const auto manifest = TRY(reader.require(engine::SectionType::manifest));
  const std::vector<std::string> names = TRY(entry_names(manifest, place));
  std::string missing;
  if (auto plugins = check_plugins(reader, options.libraries, place); !plugins) {
    if (plugins.error().code() != Code::not_supported || !has_plugin_free_graph(reader, names.size())) return std::move(plugins).error();
    missing = runtime::missing_plugins_text(plugins.error());
  }
  TRY(reader.verify_all());
  CompileOptions compiling = TRY(options_of(manifest, options.libraries, place));
  compiling.threads = options.threads;
  auto entries = TRY(read_graphs(reader, names, *options.ops, place, !missing.empty()));
  if (missing.empty()) compiling.constraints.preferred = TRY(preferred_of(compiling.registry->libraries(), entries));
  return CompiledPortable{TRY(compile(std::move(entries), compiling)), std::move(missing)};
}

}  // namespace

Result<std::optional<CompiledPortable>> compile_if_portable(const std::filesystem::path& path, const LoadOptions& options) {
  const auto file = TRY(files::MappedFile::open(path));
  const engine::Reader reader = TRY(engine::Reader::open(file->bytes(), file, path.string()));
  if (!is_portable(reader)) return std::nullopt;
  return TRY(compile_portable(reader, options, path.string()));
}

Result<std::shared_ptr<runtime::Engine>> load(const std::filesystem::path& path, const LoadOptions& options) {
  if (auto portable = TRY(compile_if_portable(path, options)))
    return load_compiled(std::move(portable->compiled), {}, std::move(portable->missing));
  const auto registry = TRY(Registry::make(options.libraries));
  return runtime::load_engine(path, {.verify = options.verify, .devices = registry->devices(*options.ops)});
}

}  // namespace tenon::compiler
