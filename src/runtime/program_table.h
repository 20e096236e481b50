// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/program.h"

namespace tenon::runtime {

/// What runs a program of an engine. The numbers are stored in engine files and never change.
enum class Role : uint8_t {
  entry = 1,        ///< callers run it by its name
  body = 2,         ///< a step of another program, a branch or loop, runs it
  fallback = 3,     ///< runs in place of its entry where its condition holds
  inner_graph = 4,  ///< segments of plugins run it from within `enqueue`
};

/// When a fallback runs in place of its entry. The numbers are stored in engine files and never change.
enum class Condition : uint8_t {
  none = 0,                ///< of programs of other roles
  size_out_of_range = 1,   ///< a size of an input is outside the range of the entry's port: the same model, compiled for all sizes
  plugin_missing = 2,      ///< a plugin that segments need cannot be loaded: the same model, by the definitions of the plugins' ops
  default_overridden = 3,  ///< a run gives an input that has a default: the same model, with inputs for all defaults after the others
};

struct NamedProgram {
  std::string name = {};  ///< of an entry
  Role role = Role::entry;
  Condition condition = Condition::none;
  uint32_t entry = 0;  ///< fallback: number of its entry
  Program program;
};

/// All programs of an engine. Steps and blobs refer to programs by their numbers here; code, weights and states are shared by all.
struct ProgramTable {
  std::vector<NamedProgram> programs;
  std::vector<StateInfo> states = {};
  uint64_t weight_bytes = 0;

  ProgramTable() = default;
  /// One entry, "main".
  ProgramTable(Program entry);
  Program& operator[](size_t number) { return programs[number].program; }
  const Program& operator[](size_t number) const { return programs[number].program; }
  size_t size() const { return programs.size(); }
};

/// A program with its bodies, before it is added to a table: its steps refer to `bodies` by index.
struct ProgramTree {
  Program program;
  std::vector<ProgramTree> bodies = {};
};
/// Stores the tree's program in row `number`, which exists, and appends its bodies as rows.
void place_tree(ProgramTable& table, uint32_t number, ProgramTree tree);

/// Numbers of the entries.
std::vector<uint32_t> entries_of(const ProgramTable& table);
/// The fallback of an entry for that condition.
std::optional<uint32_t> fallback_of(const ProgramTable& table, uint32_t entry, Condition condition);
/// The program that takes inputs of these shapes: the entry, or its fallback for sizes out of range.
uint32_t program_for(const ProgramTable& table, std::span<const Sizes> shapes, uint32_t entry = 0);
/// The inputs that a caller sees: those of the fallback for overridden defaults, where there is one.
std::span<const PortInfo> inputs_of(const ProgramTable& table, uint32_t entry = 0);
/// The capacity of each state, by number in Program::states; 0 for those that do not grow.
std::vector<int64_t> capacities_of(const ProgramTable& table, const Program& program);
/// For each program of the table, whether it is one of `roots` or is run by one, directly or not. Cost: linear.
std::vector<bool> reachable(const ProgramTable& table, std::span<const uint32_t> roots);

/// Whether every index of every program is in range, each body belongs to one step, no program runs itself, the first row is an entry, and
/// each fallback has the inputs, outputs and states of its entry. outer_sizes: how many sizes entries read from the enclosing
/// program (of a segment). Cost: linear.
bool is_sound(const ProgramTable& table, uint32_t outer_sizes = 0);

/// Numbered fields for ever; unknown ones are skipped. Errors of decoding: bad_file.
std::string encode(const ProgramTable& table);
Result<ProgramTable> decode(std::string_view bytes);
/// The same for the program of a segment, whose entry reads `outer_sizes` sizes from the enclosing program.
Result<ProgramTable> decode_segment(std::string_view bytes, uint32_t outer_sizes);
/// The same for an engine section "program", which older engines have in place of the table: one program with nested programs.
Result<ProgramTable> decode_nested(std::string_view bytes);

/// Memory that a run needs.
struct PlannedBytes {
  uint64_t values = 0;   ///< intermediate values
  uint64_t scratch = 0;  ///< of each thread that takes part
  PlannedBytes& operator+=(const PlannedBytes& other) {
    values += other.values;
    scratch += other.scratch;
    return *this;
  }
  uint64_t peak(int threads) const { return values + scratch * static_cast<uint64_t>(threads); }
};
/// What a run of program `number`, or its fallback for sizes out of range, needs on these input shapes, not counting weights, results and
/// what depends on data; of packed rows the most that there can be, of growing states their capacity. Errors: those of evaluate_sizes and
/// lay_out.
Result<PlannedBytes> planned_bytes(const ProgramTable& table, std::span<const Sizes> input_shapes, uint32_t number = 0);

}  // namespace tenon::runtime
