// SPDX-License-Identifier: Apache-2.0
#include "compiler/portable.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/stored_constants.h"
#include "ir/verify.h"
#include "ops/core/op.h"

namespace tenon::compiler {

namespace {

using engine::SectionType;
using runtime::Condition;
using Json = nlohmann::ordered_json;

constexpr size_t kMaxConstants = 1'000'000;

/// A stranger's text may claim that a result is larger than it is; kernels would believe it.
void forget_types(ir::Graph& graph) {
  for (const ir::NodeId id : graph.nodes()) {
    const std::vector<ir::ValueId> results = graph.node(id).outputs;
    for (const ir::ValueId v : results) {
      if (!v) continue;
      graph.set_type(v, ir::Type());
      graph.set_data(v, std::nullopt);
    }
    for (size_t k = 0; k < graph.node(id).bodies.size(); ++k) forget_types(graph.body(id, k));
  }
}

std::string_view as_text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Result<ir::TextConstants> read_constants(const engine::Reader& reader, std::string_view place) {
  const auto weights = TRY(reader.require(SectionType::weights));
  const Json index = Json::parse(as_text(TRY(reader.require(SectionType::constants_index))), nullptr, false);
  if (!index.is_array() || index.size() > kMaxConstants)
    return fail(Code::bad_file, std::string(place), "the constants index is no list, or too long")
        .expected("a list of at most " + std::to_string(kMaxConstants))
        .found(index.is_array() ? std::to_string(index.size()) : "something else");
  ir::TextConstants out;
  for (size_t k = 0; k < index.size(); ++k) out.constants.push_back(TRY(read_constant(index[k], k, weights, reader.keeper(), place)));
  return out;
}

}  // namespace

uint32_t tag_of_graph(size_t entry, Condition condition) { return static_cast<uint32_t>(16 * entry) + static_cast<uint32_t>(condition); }

Result<std::vector<std::string>> entry_names(std::span<const std::byte> manifest, const std::string& place) {
  const auto json = Json::parse(std::string_view(reinterpret_cast<const char*>(manifest.data()), manifest.size()), nullptr, false);
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

Result<std::unique_ptr<ir::Graph>> parse_untrusted_graph(std::string_view text, const ir::OpTable& ops, const ir::TextConstants* big) {
  auto graph = TRY(ir::parse(text, ops, big));
  TRY(ir::verify(*graph));
  forget_types(*graph);
  TRY(ir::infer_all(*graph));
  return graph;
}

namespace {

void add_fallback_texts(engine::Writer& writer, std::span<const FallbackGraph> fallbacks, size_t entry, ir::TextConstants& big) {
  for (const FallbackGraph& f : fallbacks)
    writer.add(SectionType::graph_text, ir::print(*f.graph, &big), {.required = false, .tag = tag_of_graph(entry, f.condition)});
}

}  // namespace

Result<void> add_graphs(engine::Writer& writer, const Compiled& compiled) {
  ir::TextConstants big;
  writer.add(SectionType::graph_text, ir::print(*compiled.graph, &big));
  const size_t own = big.constants.size();
  add_fallback_texts(writer, compiled.fallbacks, 0, big);
  for (size_t k = 0; k < compiled.other_entries.size(); ++k) {
    const CompiledEntry& e = compiled.other_entries[k];
    writer.add(SectionType::graph_text, ir::print(*e.graph, &big), {.required = false, .tag = tag_of_graph(k + 1)});
    add_fallback_texts(writer, e.fallbacks, k + 1, big);
  }
  Json index = Json::array();
  StoredConstants stored;
  for (size_t k = 0; k < big.constants.size(); ++k) {
    const ir::ConstantRef& c = big.constants[k];
    if (c->dtype == DType::string)
      return fail(Code::not_supported, "--portable", "not supported yet: constants of more than 64 strings in an engine without code");
    index.push_back(stored.add(c, k >= own));
  }
  writer.add(SectionType::constants_index, index.dump());
  const auto bytes = static_cast<uint64_t>(stored.bytes());
  writer.add_streamed(SectionType::weights, bytes, [stored = std::move(stored)](engine::Append append) { return stored.write(append); });
  return {};
}

bool has_plugin_free_graph(const engine::Reader& reader, size_t entries) {
  for (size_t k = 0; k < entries; ++k)
    if (reader.find(SectionType::graph_text, tag_of_graph(k, Condition::plugin_missing))) return true;
  return false;
}

Result<std::vector<EntrySource>> read_graphs(const engine::Reader& reader, std::span<const std::string> names, const ir::OpTable& ops,
                                             std::string_view place, bool plugin_free) {
  const ir::TextConstants big = TRY(read_constants(reader, place));
  std::vector<EntrySource> out;
  for (size_t k = 0; k < names.size(); ++k) {
    const auto free_of_plugins =
        plugin_free ? reader.find(SectionType::graph_text, tag_of_graph(k, Condition::plugin_missing)) : std::nullopt;
    const auto text = free_of_plugins ? *free_of_plugins : TRY(reader.require(SectionType::graph_text, tag_of_graph(k)));
    EntrySource& entry = out.emplace_back(names[k], Source(TRY(parse_untrusted_graph(as_text(text), ops, &big))));
    if (free_of_plugins) continue;
    for (const Condition condition : {Condition::size_out_of_range, Condition::default_overridden})
      if (const auto fallback = reader.find(SectionType::graph_text, tag_of_graph(k, condition)))
        entry.source.fallbacks.push_back({condition, TRY(parse_untrusted_graph(as_text(*fallback), ops, &big))});
  }
  return out;
}

}  // namespace tenon::compiler
