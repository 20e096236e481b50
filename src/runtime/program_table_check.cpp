// SPDX-License-Identifier: Apache-2.0
// What must be so of the programs of a table together.
#include <algorithm>
#include <ranges>
#include <set>

#include "runtime/program_check.h"

namespace tenon::runtime {

namespace {

/// Branches, loops and inner graphs in each other: no model nests deeper.
constexpr int kDeepest = 32;

bool is_alike(const PortInfo& a, const PortInfo& b) {
  return a.name == b.name && a.dtype == b.dtype && a.container.kind == b.container.kind && a.shape.size() == b.shape.size();
}

/// A fallback takes what its entry does; one for overridden defaults takes inputs with defaults after that.
bool takes_the_same(const Program& fallback, const Program& entry, bool more) {
  const std::span<const PortInfo> inputs = fallback.inputs;
  const size_t own = entry.inputs.size();
  return (more ? inputs.size() > own : inputs.size() == own) && std::ranges::equal(inputs.first(own), entry.inputs, is_alike) &&
         std::ranges::all_of(inputs.subspan(own), [](const PortInfo& port) { return port.default_value.has_value(); });
}

class TableChecker {
 public:
  TableChecker(const ProgramTable& table, uint32_t outer_sizes)
      : table_(table), outer_sizes_(outer_sizes), uses_(table.size()), depth_(table.size(), kUnknown) {}

  bool sound() {
    if (table_.size() == 0 || table_.size() > kMissing || table_.programs[0].role != Role::entry || !are_states_sound(table_)) return false;
    for (uint32_t k = 0; k < table_.size(); ++k)
      if (!row_sound(k) || !is_sound(table_[k], table_) || !is_state_use_sound(table_.programs[k], table_)) return false;
    count_uses();
    for (uint32_t k = 0; k < table_.size(); ++k)
      if (uses_[k] != (table_.programs[k].role == Role::body ? 1u : 0u) || !ends(k, 0)) return false;
    return plugin_free_sound();
  }

 private:
  bool row_sound(uint32_t number) {
    const NamedProgram& row = table_.programs[number];
    if (row.role < Role::entry || row.role > Role::inner_graph) return false;
    if (row.role == Role::entry && (row.name.empty() || !names_.insert(row.name).second)) return false;
    const auto is_missing = [&](const SizeLine& l) { return l.kind == SizeLine::Kind::outer && l.a >= outer_sizes_; };
    if (row.role != Role::body && std::ranges::any_of(row.program.sizes, is_missing)) return false;
    return row.role == Role::fallback ? fallback_sound(row) : row.condition == Condition::none;
  }

  bool fallback_sound(const NamedProgram& row) {
    if (row.condition < Condition::size_out_of_range || row.condition > Condition::default_overridden) return false;
    if (row.entry >= table_.size() || table_.programs[row.entry].role != Role::entry) return false;
    const Program& entry = table_[row.entry];
    return fallbacks_.emplace(row.entry, row.condition).second &&
           takes_the_same(row.program, entry, row.condition == Condition::default_overridden) &&
           std::ranges::equal(row.program.outputs, entry.outputs, {}, &PortInfo::dtype, &PortInfo::dtype);
  }

  /// How many steps run each body.
  void count_uses() {
    for (const NamedProgram& p : table_.programs)
      for (const Step& step : p.program.steps)
        for (const uint64_t body : bodies_of(step)) ++uses_[body];
  }

  /// Whether the program neither runs itself nor nests too deep.
  bool ends(uint32_t number, int outside) {
    if (depth_[number] == kOpen || outside > kDeepest) return false;
    if (depth_[number] != kUnknown) return outside + depth_[number] <= kDeepest;
    depth_[number] = kOpen;
    int deepest = 0;
    const auto visit = [&](uint32_t inside) {
      if (!ends(inside, outside + 1)) return false;
      deepest = std::max(deepest, 1 + depth_[inside]);
      return true;
    };
    for (const Step& step : table_[number].steps)
      if (!std::ranges::all_of(bodies_of(step), [&](uint64_t body) { return visit(static_cast<uint32_t>(body)); })) return false;
    for (const Blob& blob : table_[number].blobs)
      if (!std::ranges::all_of(blob.graphs, visit)) return false;
    depth_[number] = deepest;
    return true;
  }

  /// Programs that run where plugins are missing have no segments of plugins, and so no graphs of theirs.
  bool plugin_free_sound() const {
    std::vector<uint32_t> roots;
    for (uint32_t k = 0; k < table_.size(); ++k)
      if (table_.programs[k].condition == Condition::plugin_missing) roots.push_back(k);
    const std::vector<bool> used = reachable(table_, roots);
    return std::ranges::none_of(std::views::iota(size_t{0}, table_.size()),
                                [&](size_t k) { return used[k] && table_.programs[k].role == Role::inner_graph; });
  }

  static constexpr int kUnknown = -1, kOpen = -2;
  const ProgramTable& table_;
  const uint32_t outer_sizes_;
  std::set<std::string_view> names_;
  std::set<std::pair<uint32_t, Condition>> fallbacks_;
  std::vector<uint32_t> uses_;
  std::vector<int> depth_;  ///< how many programs are nested in it
};

}  // namespace

bool is_sound(const ProgramTable& table, uint32_t outer_sizes) { return TableChecker(table, outer_sizes).sound(); }

}  // namespace tenon::runtime
