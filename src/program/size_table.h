// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <unordered_map>
#include <vector>

#include "base/dim/dim.h"
#include "runtime/program.h"

namespace tenon::program {

/// Compiles symbolic dimensions into the program's size table, whose lines are integer arithmetic over earlier lines. Use: bind each symbol
/// to its origin, request a line for every dimension that the program reads, call `finish`, then read the slots. A later binding of a bound
/// symbol has no effect.
class SizeTable {
 public:
  /// The symbol is the size of dimension `axis` of input `input`. Also takes an expression whose symbols have no origin of their own.
  void bind_to_input(const DimNode* symbol, uint32_t input, uint32_t axis);
  /// The symbol is a size of a result of step `step`. Also takes an expression whose symbols have no origin of their own.
  void bind_to_step(const DimNode* symbol, uint32_t step);
  /// The symbol is the length of a growing state. port: its number in Program::states.
  void bind_to_state_length(const DimNode* symbol, uint32_t port);
  /// The symbol is the size of dimension `axis` of a state, which the context fixes.
  void bind_to_state_size(const DimNode* symbol, uint32_t port, uint32_t axis);
  /// Requests a line for the length of that state, also where its symbol is bound to something else.
  void request_length(uint32_t port) { lengths_.emplace(port, 0); }
  /// The line of that length; call after `finish`.
  runtime::Slot length_of(uint32_t port) const { return lengths_.at(port); }
  /// Whether the value is known before the first step runs.
  bool is_known_at_start(Dim dim) const;
  /// The symbol is a size of the program around this one.
  void bind_to_outer(const DimNode* symbol);
  /// Whether every symbol of `dim` has an origin.
  bool contains(Dim dim) const;
  /// Whether `bind_to_step` bound the symbol to that step.
  bool is_bound_by(const DimNode* symbol, uint32_t step) const {
    auto found = origins_.find(symbol);
    return found != origins_.end() && found->second.step == static_cast<int64_t>(step);
  }
  /// Whether that step binds `dim` or a symbol of it, so that the value is unknown before the step has run.
  bool depends_on_step(Dim dim, uint32_t step) const;
  /// Requests a line whose value is `dim`.
  void request(Dim dim);
  /// Writes the requested lines to `program.sizes`: first those known before the first step, then, step by step, those that a step's
  /// results determine. Errors: not_supported for a symbol without an origin; size_overflow.
  Result<void> finish(runtime::Program& program);
  /// The line of a requested dimension; call after `finish`.
  runtime::Slot slot(Dim dim) const;
  /// How many lines, from the first on, are known before step `step` runs.
  uint32_t lines_before(uint32_t step) const;
  /// The sizes of the program around this one that lines of kind `outer` read, in order; call after `finish`.
  const std::vector<Dim>& outer() const { return outer_; }

 private:
  struct Origin {
    int64_t step = -1;  ///< that binds it; -1: known before the first step
    uint32_t input = 0, axis = 0;
    bool is_outer = false;         ///< a size of the program around this one
    int64_t state = -1;            ///< port of the growing state whose length it is; -1: none
    int64_t state_with_size = -1;  ///< port of the state whose dimension `axis` it is; -1: none
  };
  /// The last step that binds a symbol of `dim`; -1: the value is known before the first step.
  Result<int64_t> level_of(Dim dim) const;
  /// Appends the lines that compute `dim`, unless there are, and returns the last.
  runtime::Slot emit(Dim dim, runtime::Program& program);
  runtime::Slot emit_polynomial(const DimNode& node, runtime::Program& program);
  runtime::Slot add(runtime::SizeLine line, runtime::Program& program);

  std::unordered_map<const DimNode*, Origin> origins_;
  std::vector<Dim> requested_, outer_;                ///< outer_: see outer()
  std::unordered_map<Dim, runtime::Slot> slots_;      ///< the line of each size that has one
  std::map<uint32_t, runtime::Slot> lengths_;         ///< of growing states, by port
  std::vector<std::pair<int64_t, uint32_t>> levels_;  ///< a step, and the number of lines that are known after it has run
};

}  // namespace tenon::program
