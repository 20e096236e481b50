// SPDX-License-Identifier: Apache-2.0
#include "compiler/engine_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "files/mapped_file.h"
#include "ir/text.h"
#include "ops/core/unknown.h"
#include "runtime/load.h"

namespace tenon::compiler {

namespace {

using engine::Section;
using engine::SectionType;

std::string_view as_text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

const Section* find_section(const engine::Reader& reader, SectionType type) {
  const auto found = std::ranges::find(reader.sections(), type, &Section::type);
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

Result<PlanRecord> plan_in(const engine::Reader& reader, const Section& section, const EngineContents& of, const std::string& place) {
  auto plan = decode_plan_record(TRY(checked_text(reader, section)), *of.graph, *of.target);
  if (!plan) return in_file(std::move(plan).error(), place);
  if (plan->group_of_step.size() == (*of.programs)[0].steps.size()) return plan;
  return fail(Code::bad_file, place, "the record of the plan is not one of the engine's program")
      .expected(fmt::format("{} steps", (*of.programs)[0].steps.size()))
      .found(fmt::format("{} steps", plan->group_of_step.size()))
      .advice("build the engine again");
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
  const Section* const text = find_section(reader, SectionType::graph_text);
  if (!text) TRY(reader.require(SectionType::graph_text));  // its error
  EngineContents out;
  auto graph = ir::parse_outline(TRY(checked_text(reader, *text)), ops::open_table(ops));
  if (!graph) return in_file(std::move(graph).error(), place);
  out.graph = *std::move(graph);
  const Section* const code = find_section(reader, SectionType::code);
  if (!code) return out;
  out.programs = TRY(runtime::read_programs(reader));
  out.tactics = tactics_of(reader);
  out.target = TRY(target_of(code->tag, place));
  if (const auto* record = find_section(reader, SectionType::plan_record)) out.plan = TRY(plan_in(reader, *record, out, place));
  return out;
}

}  // namespace tenon::compiler
