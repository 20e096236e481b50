// SPDX-License-Identifier: Apache-2.0
#include "compiler/save.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

#include "base/version.h"
#include "compiler/constant_stream.h"
#include "compiler/options/saved_options.h"
#include "compiler/plan_record.h"
#include "compiler/portable.h"
#include "compiler/release_pages.h"
#include "engine/writer.h"
#include "files/atomic_write.h"
#include "ir/text.h"
#include "plugin/public/plugins.h"

namespace tenon::compiler {

namespace {

using engine::SectionType;

Result<void> write_zeros(engine::Append append, uint64_t count) {
  static constexpr std::byte kZeros[4096] = {};
  for (uint64_t left = count; left > 0;) {
    const uint64_t part = std::min<uint64_t>(left, sizeof kZeros);
    TRY(append({kZeros, part}));
    left -= part;
  }
  return {};
}

/// Constants at their places, zeros between them.
Result<void> write_weights(const program::LinkedPrograms& built, engine::Append append) {
  uint64_t at = 0;
  std::vector<ir::ConstantRef> constants;
  for (const program::PlacedConstant& w : built.weights) constants.push_back(w.constant);
  ConstantStream all(std::move(constants));
  for (const program::PlacedConstant& w : built.weights) {
    TRY(write_zeros(append, w.offset - at));
    const std::span<const std::byte> bytes = TRY(all.next());
    TRY(append(bytes));
    release_pages(*w.constant);
    at = w.offset + bytes.size();
  }
  return write_zeros(append, built.programs.weight_bytes + runtime::kSlack - at);
}

std::string manifest(const Compiled& c, const CompileOptions& options) {
  nlohmann::ordered_json json{
      {"producer", kProducer},         {"opt", options.opt},          {"portable", options.portable},         {"source", c.graph->name},
      {"nodes", c.report.nodes_after}, {"kernels", c.report.kernels}, {"weight_bytes", c.report.weight_bytes}};
  if (!c.other_entries.empty()) {
    json["entries"] = nlohmann::ordered_json::array({c.built.programs.programs[0].name});
    for (const CompiledEntry& e : c.other_entries) json["entries"].push_back(e.name);
  }
  std::set<std::string> devices;
  for (const auto& [of_device, count] : c.report.device_ops) devices.insert(of_device.first);
  std::vector<std::string> names;
  size_t listed = 0;
  for (size_t k = 0; k < options.backends.size(); ++k) {
    const backend::Backend& b = *options.backends[k];
    if (b.runs_plugins() && !devices.contains(std::string(b.name()))) continue;  // that plugins were named changes no engine that has none
    names.emplace_back(b.name());
    if (k < options.constraints.listed) ++listed;
  }
  if (!names.empty() && names != std::vector<std::string>{"cpu", "reference"}) {
    json["backends"] = names;
    json["listed"] = listed;  // of them: see partition::Constraints
  }
  if (!devices.empty() && !options.portable) json["devices"] = devices;
  json["options"] = saved_options(options, (c.registry ? *c.registry : default_registry()).libraries());
  return json.dump();
}

std::string table_of(const codegen::MachineCode& code) {
  std::string bytes;
  for (const codegen::CodeEntry& e : code.entries) bytes.append(reinterpret_cast<const char*>(&e.offset), sizeof e.offset);
  return bytes;
}

/// The plugins that segments of all programs are created from.
std::vector<std::string_view> saved_plugins(const runtime::ProgramTable& programs, const backend::Backends& backends) {
  std::vector<std::string_view> out;
  for (const runtime::NamedProgram& p : programs.programs)
    for (const runtime::Blob& blob : p.program.blobs) {
      const auto of = std::ranges::find(backends, blob.device, [](const backend::Backend* b) { return b->name(); });
      TENON_ASSERT(of != backends.end());
      if ((*of)->runs_plugins()) out.emplace_back(blob.bytes);
    }
  return out;
}

Result<void> add_plugin_libraries(engine::Writer& writer, std::span<const std::string_view> saved) {
  std::vector<std::string> digests;
  for (std::string_view bytes : saved) {
    std::string digest = TRY(plugin::decode_saved(bytes)).sha256;
    if (std::ranges::find(digests, digest) == digests.end()) digests.push_back(std::move(digest));
  }
  uint32_t tag = 0;
  for (std::string& library : TRY(plugin::embed(digests)))
    writer.add(SectionType::plugin_library, std::move(library), {.required = false, .tag = tag++});
  return {};
}

/// The plugins that runs need, where there are some.
Result<void> add_plugins(engine::Writer& writer, const Compiled& c, bool embedded) {
  const std::vector<std::string_view> saved = saved_plugins(c.built.programs, c.backends.all);
  if (!saved.empty()) writer.add(SectionType::plugins, plugin::encode_all(saved));
  if (!embedded) return {};
  return add_plugin_libraries(writer, saved);
}

/// Adds the section with the times that were measured for plugins, for `tenon inspect`.
void add_measured(engine::Writer& writer, const Compiled& c) {
  if (!c.report.measured.empty()) writer.add(SectionType::plugin_times, plugin::encode(c.report.measured), {.required = false});
}

/// Everything that a run needs, with the code for the CPUs that it was compiled for.
Result<void> add_native(engine::Writer& writer, const Compiled& c) {
  const codegen::Target& target = *c.code.target;
  const uint32_t tag = target.tag;
  writer.add(SectionType::graph_text, ir::print(*c.graph), {.required = false});
  for (size_t k = 1; k <= c.other_entries.size(); ++k)
    writer.add(SectionType::graph_text, ir::print(graph_of(c, k)), {.required = false, .tag = tag_of_graph(k)});
  writer.add(SectionType::programs, runtime::encode(c.built.programs));
  writer.add(SectionType::target, fmt::format("{}\n{}", target.title, target.needs()), {.required = false, .tag = tag});
  writer.add(SectionType::tactics, fmt::format("{}\n", fmt::join(c.built.tactics, "\n")), {.required = false, .tag = tag});
  writer.add(SectionType::plan_record, encode_plan_records(c), {.required = false, .tag = tag});
  writer.add(SectionType::kernels, table_of(c.code), {.tag = tag});
  writer.add(SectionType::code, std::string(reinterpret_cast<const char*>(c.code.bytes.data()), c.code.bytes.size()), {.tag = tag});
  writer.add_streamed(SectionType::weights, c.built.programs.weight_bytes + runtime::kSlack,
                      [&c](engine::Append append) { return write_weights(c.built, append); });
  return {};
}

}  // namespace

Result<void> save(const Compiled& c, const CompileOptions& options, const std::filesystem::path& path) {
  if (options.portable) TRY(check_portable(options));
  engine::Writer writer;
  writer.add(SectionType::manifest, manifest(c, options));
  TRY(add_plugins(writer, c, options.embed_plugins));
  add_measured(writer, c);
  for (const auto& [part, bytes] : options.text)
    writer.add(SectionType::language_text, bytes, {.required = false, .tag = static_cast<uint32_t>(part)});
  TRY(options.portable ? add_graphs(writer, c) : add_native(writer, c));
  auto file = TRY(files::AtomicFile::create(path));
  TRY(writer.write([&](uint64_t offset, std::span<const std::byte> bytes) { return file.write_at(offset, bytes); }));
  return file.commit();
}

}  // namespace tenon::compiler
