// SPDX-License-Identifier: Apache-2.0
#include "runtime/program_table.h"

#include <algorithm>

namespace tenon::runtime {

ProgramTable::ProgramTable(Program entry) { programs.push_back({.name = "main", .program = std::move(entry)}); }

void place_tree(ProgramTable& table, uint32_t number, ProgramTree tree) {
  const auto first = static_cast<uint32_t>(table.size());
  for (Step& step : tree.program.steps) renumber_bodies(step, first);
  table[number] = std::move(tree.program);
  table.programs.resize(first + tree.bodies.size(), {.role = Role::body, .program = {}});
  for (uint32_t b = 0; b < tree.bodies.size(); ++b) place_tree(table, first + b, std::move(tree.bodies[b]));
}

std::vector<uint32_t> entries_of(const ProgramTable& table) {
  std::vector<uint32_t> out;
  for (uint32_t k = 0; k < table.size(); ++k)
    if (table.programs[k].role == Role::entry) out.push_back(k);
  return out;
}

std::optional<uint32_t> fallback_of(const ProgramTable& table, uint32_t entry, Condition condition) {
  const auto found = std::ranges::find_if(
      table.programs, [&](const NamedProgram& p) { return p.role == Role::fallback && p.entry == entry && p.condition == condition; });
  if (found == table.programs.end()) return std::nullopt;
  return static_cast<uint32_t>(found - table.programs.begin());
}

uint32_t program_for(const ProgramTable& table, std::span<const Sizes> shapes, uint32_t entry) {
  const std::vector<PortInfo>& ports = table[entry].inputs;
  const auto unbounded = fallback_of(table, entry, Condition::size_out_of_range);
  if (!unbounded || shapes.size() != ports.size()) return entry;
  for (size_t k = 0; k < shapes.size(); ++k) {
    const PortInfo& port = ports[k];
    if (shapes[k].size() != port.shape.size()) return entry;  // whose error says so
    for (size_t d = 0; d < shapes[k].size(); ++d)
      if (shapes[k][d] < port.lower[d] || shapes[k][d] > port.upper[d]) return *unbounded;
  }
  return entry;
}

std::span<const PortInfo> inputs_of(const ProgramTable& table, uint32_t entry) {
  return table[fallback_of(table, entry, Condition::default_overridden).value_or(entry)].inputs;
}

std::vector<bool> reachable(const ProgramTable& table, std::span<const uint32_t> roots) {
  std::vector<bool> out(table.size());
  std::vector<uint32_t> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const uint32_t number = open.back();
    open.pop_back();
    if (out[number]) continue;
    out[number] = true;
    for (const Step& step : table[number].steps)
      for (const uint64_t body : bodies_of(step)) open.push_back(static_cast<uint32_t>(body));
    for (const Blob& blob : table[number].blobs) open.insert(open.end(), blob.graphs.begin(), blob.graphs.end());
  }
  return out;
}

}  // namespace tenon::runtime
