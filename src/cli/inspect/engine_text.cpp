// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect/engine_text.h"

#include "cli/inspect/engine_plugins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "base/index_named.h"
#include "cli/console/console.h"
#include "cli/inspect/brief_text.h"
#include "compiler/engine_contents.h"
#include "compiler/portable.h"
#include "compiler/shapes/default_shapes.h"
#include "compiler/shapes/requested_shapes.h"
#include "engine/reader.h"
#include "files/mapped_file.h"
#include "runtime/container_value.h"
#include "runtime/load.h"
#include "runtime/program_table.h"

namespace tenon::cli {
namespace {

using engine::Section;
using engine::SectionType;
using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;
using runtime::Condition;
using runtime::Program;
using runtime::ProgramTable;
using runtime::Role;
using runtime::Step;

std::string_view text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Json manifest_of(std::string_view text) {
  Json out = Json::parse(text, nullptr, false);
  return out.is_discarded() ? Json() : out;
}

std::string title_of(const engine::Reader& reader, uint32_t tag) {
  for (const runtime::CodeTarget& t : runtime::code_targets(reader))
    if (tag != 0 && t.tag == tag) return t.title;
  return "";
}

void show_sections(const engine::Reader& reader, Console& console, Json& out) {
  Rows rows{{"section", "offset", "bytes", "for"}};
  out["sections"] = Json::array();
  for (const Section& s : reader.sections()) {
    const std::string name(engine::name_of(s.type));
    rows.push_back({name, std::to_string(s.offset), std::to_string(s.bytes.size()), title_of(reader, s.tag)});
    out["sections"].push_back(
        {{"name", name}, {"offset", s.offset}, {"bytes", s.bytes.size()}, {"target", title_of(reader, s.tag)}, {"required", s.required}});
  }
  console.table(rows);
}

/// " = [1, 2, 3]", of many elements " = f32[64,3]"; nothing where the port has no default.
std::string default_text(const runtime::PortInfo& port, std::span<const std::byte> weights) {
  if (!port.default_value) return "";
  const runtime::DefaultValue& value = *port.default_value;
  return " = " + brief_text(Tensor::view(port.dtype, value.shape, weights.data() + value.offset, nullptr));
}

/// The ports of an entry. prefix: before "in" and "out".
void add_ports(const ProgramTable& programs, uint32_t entry, const std::string& prefix, std::span<const std::byte> weights, Rows& rows,
               Json& out) {
  const auto inputs = runtime::inputs_of(programs, entry);
  for (const bool in : {true, false}) {
    Json& list = out[in ? "inputs" : "outputs"] = Json::array();
    for (const runtime::PortInfo& port : in ? inputs : programs[entry].outputs) {
      const std::string type = runtime::is_container(port) ? runtime::text_of(port.container, port.dtype)
                                                           : fmt::format("{}[{}]", name_of(port.dtype), fmt::join(port.dimensions, ","));
      const std::string otherwise = default_text(port, weights);
      rows.push_back({prefix + (in ? "in" : "out"), port.name, type + otherwise});
      list.push_back({{"name", port.name}, {"dtype", name_of(port.dtype)}, {"shape", port.dimensions}, {"type", type}});
      if (port.default_value) list.back()["default"] = otherwise.substr(3);
    }
  }
}

void add_states(const ProgramTable& programs, std::span<const std::byte> weights, Rows& rows, Json& out) {
  out["states"] = Json::array();
  for (const runtime::StateInfo& s : programs.states) {
    const std::string initial = s.initial ? " = " + brief_text(Tensor::view(s.dtype, s.shape, weights.data() + *s.initial, nullptr)) : "";
    rows.push_back({"state", s.name, state_type_text(s) + initial});
    Json state{{"name", s.name}, {"dtype", name_of(s.dtype)}, {"shape", s.shape}, {"type", state_type_text(s)}};
    if (s.growing_axis) state["growing_axis"] = *s.growing_axis;
    if (s.initial) state["initial"] = initial.substr(3);
    out["states"].push_back(std::move(state));
  }
}

/// Inputs and outputs of the first entry are those of the engine; all entries have theirs in "entries".
void show_ports(const ProgramTable& programs, std::optional<uint32_t> only, std::span<const std::byte> weights, Console& console,
                Json& out) {
  Rows rows{{"", "name", "type"}};
  out["entries"] = Json::array();
  for (const uint32_t k : runtime::entries_of(programs)) {
    if (only.value_or(k) != k) continue;
    const std::string& name = programs.programs[k].name;
    Json entry{{"name", name}};
    add_ports(programs, k, k == 0 ? "" : name + ": ", weights, rows, entry);
    if (k == only.value_or(0)) out.update({{"inputs", entry["inputs"]}, {"outputs", entry["outputs"]}});
    out["entries"].push_back(std::move(entry));
  }
  add_states(programs, weights, rows, out);
  console.line();
  console.table(rows);
}

uint64_t next_after(const std::vector<uint64_t>& sorted, uint64_t at) {
  const auto next = std::ranges::upper_bound(sorted, at);
  return next == sorted.end() ? at : *next;
}

/// Bytes of each kernel: up to where the next one starts.
std::vector<uint64_t> kernel_bytes(const engine::Reader& reader) {
  for (const Section& s : reader.sections()) {
    if (s.type != SectionType::kernels) continue;
    std::vector<uint64_t> entries(s.bytes.size() / sizeof(uint64_t));
    std::memcpy(entries.data(), s.bytes.data(), entries.size() * sizeof(uint64_t));
    const auto code = reader.find(SectionType::code, s.tag);
    std::vector<uint64_t> ends(entries);
    ends.push_back(code ? code->size() : 0);
    std::ranges::sort(ends);
    std::vector<uint64_t> bytes;
    for (const uint64_t e : entries) bytes.push_back(next_after(ends, e) - e);
    return bytes;
  }
  return {};
}

/// Steps of all programs by the kernel that they run.
std::map<uint32_t, std::vector<const Step*>> steps_by_kernel(const ProgramTable& programs) {
  std::map<uint32_t, std::vector<const Step*>> out;
  for (const runtime::NamedProgram& p : programs.programs)
    for (const Step& s : p.program.steps)
      if (const auto* kernel = runtime::as<runtime::KernelStep>(s)) out[kernel->kernel].push_back(&s);
  return out;
}

void show_kernels(const engine::Reader& reader, const ProgramTable& programs, Console& console, Json& out) {
  const auto users = steps_by_kernel(programs);
  const auto bytes = kernel_bytes(reader);
  const std::vector<std::string> tactics = compiler::tactics_of(reader);
  Rows rows{{"kernel", "steps", "bytes", "tactic", "computes"}};
  out["kernels"] = Json::array();
  for (const auto& [kernel, steps] : users) {
    const uint64_t size = kernel < bytes.size() ? bytes[kernel] : 0;
    const std::string tactic = kernel < tactics.size() ? tactics[kernel] : "";
    rows.push_back({std::to_string(kernel), std::to_string(steps.size()), std::to_string(size), tactic, steps[0]->label});
    out["kernels"].push_back(
        {{"kernel", kernel}, {"steps", steps.size()}, {"bytes", size}, {"tactic", tactic}, {"computes", steps[0]->label}});
  }
  console.line();
  console.table(rows);
}

struct EntryName {
  std::string name;
  uint32_t program = 0;  ///< its number
};

/// The number of its program; nothing where none is named. Errors: bad_usage, naming the nearest.
Result<std::optional<uint32_t>> entry_named(const ProgramTable& programs, const std::string& name) {
  if (name.empty()) return std::nullopt;
  std::vector<EntryName> entries;
  for (const uint32_t k : runtime::entries_of(programs)) entries.push_back({programs.programs[k].name, k});
  return entries[TRY(index_named("entry", "entries", entries, name))].program;
}

/// The graphs of all entries, or of that one.
Result<void> show_graphs(const engine::Reader& reader, const std::string& only, const std::string& place, Console& console) {
  const auto names = TRY(compiler::entry_names(TRY(reader.require(SectionType::manifest)), place));
  for (size_t k = 0; k < names.size(); ++k) {
    if (!only.empty() && names[k] != only) continue;
    const auto graph = reader.find(SectionType::graph_text, compiler::tag_of_graph(k));
    if (graph && names.size() > 1) console.line("\nentry " + names[k] + ":");
    if (graph) console.line((names.size() > 1 ? "" : "\n") + std::string(text_of(*graph)));
  }
  return {};
}

/// Checks the name of an entry of a portable engine, which has no programs. Errors: bad_usage, with the nearest name.
Result<void> check_entry(const engine::Reader& reader, const std::string& name, const std::string& place) {
  if (name.empty()) return {};
  std::vector<EntryName> entries;
  for (std::string& n : TRY(compiler::entry_names(TRY(reader.require(SectionType::manifest)), place))) entries.push_back({std::move(n)});
  TRY(index_named("entry", "entries", entries, name));
  return {};
}

std::string buffers_text(const Program& p, const Step& s) {
  std::string names;
  for (const uint32_t b : s.buffers)
    if (b < p.buffers.size())
      names += (names.empty() ? "" : ", ") + (p.buffers[b].name.empty() ? fmt::format("#{}", b) : p.buffers[b].name);
  return names;
}

using Segments = std::map<std::pair<std::string, std::string>, size_t>;  ///< device and label, how often

/// The steps of a program, and below a branch or loop those of its bodies: "3", "3.0", "3.1".
void list_steps(const ProgramTable& programs, uint32_t program, const std::string& prefix, Rows& rows, Json& json, Segments& segments) {
  const Program& p = programs[program];
  for (size_t k = 0; k < p.steps.size(); ++k) {
    const Step& s = p.steps[k];
    const std::string number = prefix + std::to_string(k);
    rows.push_back({number, runs_text(p, s), buffers_text(p, s), s.label});
    json.push_back({{"step", number}, {"kind", std::string(runtime::name_of(s.kind))}, {"computes", s.label}});
    if (const auto* kernel = runtime::as<runtime::KernelStep>(s)) json.back()["kernel"] = kernel->kernel;
    if (const auto* segment = runtime::as<runtime::SegmentStep>(s)) {
      json.back()["device"] = p.blobs[segment->blob].device;
      ++segments[{p.blobs[segment->blob].device, s.label}];
    }
    const auto bodies = runtime::bodies_of(s);
    for (const uint64_t b : bodies)
      list_steps(programs, static_cast<uint32_t>(b),
                 number + (bodies.size() == 1    ? "."
                           : b == bodies.front() ? ".then."
                                                 : ".else."),
                 rows, json, segments);
  }
}

/// The prefix of the numbers of a fallback's steps, and when it runs.
std::pair<const char*, const char*> words_of(Condition condition) {
  switch (condition) {
    case Condition::none: break;
    case Condition::size_out_of_range: return {"other sizes: ", "sizes outside of the bounds"};
    case Condition::plugin_missing: return {"without plugins: ", "where a plugin is missing"};
    case Condition::default_overridden: return {"defaults overridden: ", "where a run overrides a default"};
  }
  return {"", ""};
}

/// The steps of the table's programs, those of bodies below the steps that run them.
void show_steps(const ProgramTable& programs, std::optional<uint32_t> only, bool text, Console& console, Json& out) {
  Rows rows{{"step", "runs", "reads and writes", "computes"}};
  out["steps"] = Json::array();
  Segments segments;
  size_t graphs = 0;
  for (uint32_t k = 0; k < programs.size(); ++k) {
    const runtime::NamedProgram& p = programs.programs[k];
    if (only && ((p.role == Role::entry && k != *only) || (p.role == Role::fallback && p.entry != *only))) continue;
    const auto [prefix, when] = words_of(p.condition);
    const std::string entry = p.role == Role::fallback ? p.entry == 0 ? "" : programs.programs[p.entry].name + ", " : "";
    if (p.role == Role::entry) list_steps(programs, k, k == 0 ? "" : p.name + ": ", rows, out["steps"], segments);
    if (p.role == Role::fallback) list_steps(programs, k, entry + prefix, rows, out["steps"], segments);
    if (p.role == Role::fallback) console.line(fmt::format("{}{}: steps of their own", entry, when));
    if (p.role == Role::inner_graph) list_steps(programs, k, fmt::format("inner graph {}: ", graphs++), rows, out["steps"], segments);
  }
  for (const auto& [segment, count] : segments) console.line(fmt::format("runs on {}: {} x{}", segment.first, segment.second, count));
  if (!text) return;
  console.line();
  console.table(rows);
}

Result<void> show_memory(const ProgramTable& programs, uint32_t entry, const std::string& place,
                         const std::vector<import::RequestedShape>& requested, Console& console, Json& out) {
  const Program& p = programs[entry];
  TRY(compiler::check_requested(runtime::inputs_of(programs, entry), requested, place));
  const auto shapes = compiler::default_shapes(p.inputs, requested);
  const auto planned = runtime::planned_bytes(programs, shapes, entry);  // figures for the report: they may fail
  std::string at;
  for (size_t k = 0; k < shapes.size(); ++k) at += fmt::format("{}{}=[{}]", k ? " " : "", p.inputs[k].name, fmt::join(shapes[k], ","));
  const auto buffers =
      std::ranges::count_if(p.buffers, [](const runtime::BufferInfo& b) { return b.kind == runtime::BufferInfo::Kind::arena; });
  const auto figure = [&](uint64_t runtime::PlannedBytes::* which) { return planned ? std::to_string((*planned).*which) : "unknown"; };
  console.line(fmt::format("\nmemory: {} bytes of weights; {} intermediate values in {} bytes, and {} bytes of scratch a thread, at {}",
                           programs.weight_bytes, buffers, figure(&runtime::PlannedBytes::values), figure(&runtime::PlannedBytes::scratch),
                           at));
  out["memory"] = {{"weight_bytes", programs.weight_bytes},
                   {"values", buffers},
                   {"arena_bytes", planned ? Json(planned->values) : Json()},
                   {"scratch_bytes", planned ? Json(planned->scratch) : Json()},
                   {"at", shapes}};
  return {};
}

}  // namespace

std::string runs_text(const Program& program, const Step& step) {
  if (const auto* kernel = runtime::as<runtime::KernelStep>(step))
    return fmt::format("kernel {}{}", kernel->kernel, kernel->joined ? ", joined" : "");
  if (const auto* segment = runtime::as<runtime::SegmentStep>(step)) return "on " + program.blobs[segment->blob].device;
  return std::string(runtime::name_of(step.kind));
}

Result<void> inspect_engine(const std::string& path, const EngineText& options, Console& console) {
  const auto file = TRY(files::MappedFile::open(path));
  const engine::Reader reader = TRY(engine::Reader::open(file->bytes(), file, path));
  const std::string_view manifest = text_of(TRY(reader.require(SectionType::manifest)));
  Json out{{"file", path}, {"format", "engine"}, {"bytes", file->size()}, {"manifest", manifest_of(manifest)}};
  console.line(fmt::format("{}: engine, {} bytes, {}\n", path, file->size(), manifest));
  show_sections(reader, console, out);
  if (reader.find(SectionType::programs) || reader.find(SectionType::program)) {
    const ProgramTable programs = TRY(runtime::read_programs(reader));
    const auto weights = reader.find(SectionType::weights);
    if (!weights || weights->size() < programs.weight_bytes)
      return fail(Code::bad_file, path, "the weights are shorter than the program says")
          .expected(fmt::format("{} bytes", programs.weight_bytes))
          .found(fmt::format("{} bytes", weights ? weights->size() : 0))
          .advice("build the engine again");
    const auto only = TRY(entry_named(programs, options.entry));
    show_ports(programs, only, *weights, console, out);
    show_kernels(reader, programs, console, out);
    show_steps(programs, only, options.text, console, out);
    TRY(show_memory(programs, only.value_or(0), path, options.shapes, console, out));
  } else {
    TRY(check_entry(reader, options.entry, path));
    console.line("\nno native code: it is compiled when it is loaded");
  }
  TRY(show_plugins(reader, console, out));
  if (options.text) TRY(show_graphs(reader, options.entry, path, console));
  console.object(out);
  return {};
}

}  // namespace tenon::cli
