// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <unordered_map>
#include <vector>

#include "base/dim/dim.h"
#include "runtime/program.h"

namespace tenon::program {

/// Compiles symbolic dimensions into the program's size table. Use: say where each symbol comes from, ask for all dims that will be
/// needed, `finish`, then look slots up.
class SizeTable {
 public:
  /// The symbol is dimension `axis` of input `input`. So may be a whole expression whose symbols nothing gives by themselves.
  void from_input(const DimNode* symbol, uint32_t input, uint32_t axis);
  /// The symbol is set by step `step`. So may be a whole expression whose symbols nothing gives by themselves.
  void from_step(const DimNode* symbol, uint32_t step);
  /// The symbol is the length of a growing state, by its number in Program::states.
  void from_state(const DimNode* symbol, uint32_t port);
  /// The symbol is a free size of a state.
  void from_state_size(const DimNode* symbol, uint32_t port, uint32_t axis);
  /// A line for the length of that state by itself, also where its symbol comes from elsewhere.
  void want_length(uint32_t port) { lengths_.emplace(port, 0); }
  /// Its line, once finished.
  runtime::Slot length_of(uint32_t port) const { return lengths_.at(port); }
  /// It holds before the first step.
  bool is_known_at_start(Dim dim) const;
  /// The symbol is known outside of this body.
  void from_outside(const DimNode* symbol);
  /// Every symbol in it has an origin.
  bool contains(Dim dim) const;
  bool is_bound_by(const DimNode* symbol, uint32_t step) const {
    auto found = origins_.find(symbol);
    return found != origins_.end() && found->second.step == static_cast<int64_t>(step);
  }
  /// It is unknown before the step has run: the step's results bind a symbol in it, or all of it.
  bool depends_on_step(Dim dim, uint32_t step) const;
  void want(Dim dim);
  /// Lays the lines out: those of the inputs first, then those that each binding step makes known, in step order.
  /// Errors: not_supported for a symbol that nothing gives.
  Result<void> finish(runtime::Program& program);
  runtime::Slot slot(Dim dim) const;
  /// Lines that hold before step `step` runs.
  uint32_t lines_before(uint32_t step) const;
  /// What the lines of kind `outer` count, once finished.
  const std::vector<Dim>& outer() const { return outer_; }

 private:
  struct Origin {
    int64_t step = -1;  ///< -1: there from the start
    uint32_t input = 0, axis = 0;
    bool outside = false;
    int64_t state = -1;        ///< port of a growing state whose length it is
    int64_t sized_state = -1;  ///< port of a state of which it is the size of `axis`
  };
  Result<int64_t> level_of(Dim dim) const;
  runtime::Slot emit(Dim dim, runtime::Program& program);
  runtime::Slot emit_polynomial(const DimNode& node, runtime::Program& program);
  runtime::Slot add(runtime::SizeLine line, runtime::Program& program);

  std::unordered_map<const DimNode*, Origin> origins_;
  std::vector<Dim> wanted_, outer_;
  std::unordered_map<Dim, runtime::Slot> slots_;
  std::map<uint32_t, runtime::Slot> lengths_;         ///< by port
  std::vector<std::pair<int64_t, uint32_t>> levels_;  ///< step, lines once it has run
};

}  // namespace tenon::program
