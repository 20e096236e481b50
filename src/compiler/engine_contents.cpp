// SPDX-License-Identifier: Apache-2.0
#include "compiler/engine_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "compiler/portable.h"
#include "files/mapped_file.h"
#include "ir/text.h"
#include "ops/core/unknown.h"
#include "runtime/load.h"

namespace tenon::compiler {

namespace {

using engine::Section;
using engine::SectionType;

std::string_view as_text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// tag: where there is one for each of several.
const Section* find_section(const engine::Reader& reader, SectionType type, std::optional<uint32_t> tag = {}) {
  const auto found = std::ranges::find_if(reader.sections(), [&](const Section& s) { return s.type == type && (!tag || s.tag == *tag); });
  return found == reader.sections().end() ? nullptr : &*found;
}

/// The section's text, its hash checked. Errors: bad_file.
Result<std::string_view> checked_text(const engine::Reader& reader, const Section& section) {
  TRY(reader.verify(section));
  return as_text(section.bytes);
}

/// The file, before the place in it.
Error in_file(Error error, const std::string& place) {
  const std::string inner = error->place;
  return std::move(error).placed_at(fmt::format("{}, {}", place, inner));
}

Result<const codegen::Target*> target_of(uint32_t tag, const std::string& place) {
  const auto all = codegen::all_targets();
  const auto found = std::ranges::find(all, tag, [](const codegen::Target* t) { return t->tag; });
  if (found != all.end()) return *found;
  return fail(Code::wrong_target, place, "the engine's code is for a target that this version does not have")
      .found(fmt::format("target {}", tag))
      .advice("use the Tenon that built it");
}

/// Names of the entries, in order; where a manifest names them, there may be more than have a graph.
Result<std::vector<std::string>> names_of_entries(const engine::Reader& reader, const EngineContents& of, const std::string& place) {
  if (!of.programs) return entry_names(TRY(reader.require(SectionType::manifest)), place);
  std::vector<std::string> out;
  for (const uint32_t k : runtime::entries_of(*of.programs)) out.push_back(of.programs->programs[k].name);
  return out;
}

/// The graphs of the entries. Errors: bad_file where the first has none; those of the text.
Result<std::vector<EntryContents>> graphs_in(const engine::Reader& reader, const std::vector<std::string>& names, const ir::OpTable& ops,
                                             const std::string& place) {
  std::vector<EntryContents> out;
  for (size_t k = 0; k < names.size(); ++k) {
    const Section* const text = find_section(reader, SectionType::graph_text, tag_of_graph(k));
    if (!text && k == 0) TRY(reader.require(SectionType::graph_text));  // its error
    if (!text) break;
    auto graph = ir::parse_structure(TRY(checked_text(reader, *text)), ops::table_with_unknown_ops(ops));
    if (!graph) return in_file(std::move(graph).error(), place);
    out.push_back({.name = names[k], .graph = *std::move(graph), .plan = {}});
  }
  return out;
}

/// Errors: bad_file where a record is not that of its entry's program.
Result<void> add_plans(const engine::Reader& reader, const Section& section, EngineContents& to, const std::string& place) {
  std::vector<ir::Graph*> graphs;
  for (const EntryContents& e : to.entries) graphs.push_back(e.graph.get());
  auto plans = decode_plan_records(TRY(checked_text(reader, section)), graphs, *to.target);
  if (!plans) return in_file(std::move(plans).error(), place);
  const std::vector<uint32_t> numbers = runtime::entries_of(*to.programs);
  for (size_t k = 0; k < plans->size(); ++k) {
    const size_t steps = (*to.programs)[numbers[k]].steps.size(), found = (*plans)[k].group_of_step.size();
    if (found != steps)
      return fail(Code::bad_file, place, "the record of the plan is not one of the engine's program")
          .expected(fmt::format("{} steps of entry '{}'", steps, to.entries[k].name))
          .found(fmt::format("{} steps", found))
          .advice("build the engine again");
    to.entries[k].plan = std::move((*plans)[k]);
  }
  return {};
}

}  // namespace

std::vector<std::string> tactics_of(const engine::Reader& reader) {
  std::vector<std::string> out;
  const Section* section = find_section(reader, SectionType::tactics);
  if (!section) return out;
  std::istringstream lines{std::string(as_text(section->bytes))};
  for (std::string line; std::getline(lines, line);) out.push_back(std::move(line));
  return out;
}

Result<EngineContents> read_contents(const std::filesystem::path& path, const ir::OpTable& ops) {
  const std::string place = path.string();
  const auto file = TRY(files::MappedFile::open(path));
  const engine::Reader reader = TRY(engine::Reader::open(file->bytes(), file, place));
  EngineContents out;
  const Section* const code = find_section(reader, SectionType::code);
  if (code) out.programs = TRY(runtime::read_programs(reader));
  out.entries = TRY(graphs_in(reader, TRY(names_of_entries(reader, out, place)), ops, place));
  if (!code) return out;
  out.tactics = tactics_of(reader);
  out.target = TRY(target_of(code->tag, place));
  if (const auto* record = find_section(reader, SectionType::plan_record)) TRY(add_plans(reader, *record, out, place));
  return out;
}

}  // namespace tenon::compiler
