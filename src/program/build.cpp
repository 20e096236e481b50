// SPDX-License-Identifier: Apache-2.0
#include "program/build.h"

#include <algorithm>

#include "program/build_program.h"
#include "program/state_ports.h"

namespace tenon::program {

namespace {

using runtime::PortInfo;
using runtime::Program;
using runtime::ProgramTable;
using runtime::ProgramTree;

/// Copies the least and greatest sizes of ports.
void copy_ranges(const std::vector<PortInfo>& from, std::vector<PortInfo>& to) {
  for (size_t k = 0; k < std::min(from.size(), to.size()); ++k) {
    to[k].lower = from[k].lower;
    to[k].upper = from[k].upper;
  }
}

std::string bytes_of(ProgramTree tree) {
  ProgramTable table{Program()};
  runtime::place_tree(table, 0, std::move(tree));
  return runtime::encode(table);
}

/// Whether the programs are equal apart from the ranges of sizes that they accept.
bool are_equal_without_ranges(const ProgramTree& a, ProgramTree b) {
  copy_ranges(a.program.inputs, b.program.inputs);
  copy_ranges(a.program.outputs, b.program.outputs);
  return bytes_of(a) == bytes_of(std::move(b));
}

/// Builds the table of programs. Programs of bodies come after those that add() takes: finish() appends them.
class TableBuilder {
 public:
  explicit TableBuilder(Pool& pool) : pool_(pool) {}

  /// Of `from` the name, role, condition and entry are used.
  Result<void> add(LoweredProgram from, BuiltProgram built) {
    TRY(place_states(table_, std::move(built.states), built.tree.program));
    ProgramTree tree = std::move(built.tree);
    if (from.condition == runtime::Condition::size_out_of_range && are_equal_without_ranges(tree, trees_[from.entry])) {
      trees_[from.entry] = std::move(tree);
      return {};
    }
    if (from.role == runtime::Role::inner_graph && !first_graph_) first_graph_ = static_cast<uint32_t>(trees_.size());
    table_.programs.push_back(
        {.name = std::move(from.name), .role = from.role, .condition = from.condition, .entry = from.entry, .program = {}});
    trees_.push_back(std::move(tree));
    return {};
  }

  ProgramTable finish() {
    for (uint32_t k = 0; k < trees_.size(); ++k) runtime::place_tree(table_, k, std::move(trees_[k]));
    for (runtime::NamedProgram& p : table_.programs)
      for (runtime::Blob& blob : p.program.blobs)
        for (uint32_t& graph : blob.graphs) graph += *first_graph_;
    table_.weight_bytes = pool_.weight_bytes();
    return std::move(table_);
  }

 private:
  Pool& pool_;
  ProgramTable table_;
  std::vector<ProgramTree> trees_;
  std::optional<uint32_t> first_graph_;  ///< index of the first program of an inner graph; blobs number graphs from there
};

}  // namespace

Result<LinkedPrograms> build(std::vector<LoweredProgram> programs) {
  LinkedPrograms out;
  Pool pool(out);
  TableBuilder table(pool);
  for (size_t k = 0; k < programs.size(); ++k) {
    LoweredProgram& from = programs[k];
    TENON_ASSERT(from.lowered.kernels.of_groups.size() == from.lowered.kernels.plan.groups.size());
    TENON_ASSERT(from.lowered.blobs.size() == from.lowered.kernels.plan.segments.size());
    BuiltProgram built = TRY(build_program(std::move(from.lowered), pool));
    if (from.role == runtime::Role::entry) out.origins.push_back(std::move(built.origins));
    if (k == 0) out.outer = std::move(built.outer);
    TRY(table.add(std::move(from), std::move(built)));
    if (k == 0 && programs.size() > 1) pool.share_equal_weights();
  }
  out.programs = table.finish();
  return out;
}

Result<LinkedPrograms> build(LoweredGraph lowered) {
  std::vector<LoweredProgram> programs;
  programs.push_back({.name = "main", .lowered = std::move(lowered)});
  return build(std::move(programs));
}

}  // namespace tenon::program
