// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <ranges>
#include <string>
#include <variant>
#include <vector>

#include "runtime/branch_step.h"
#include "runtime/check_step.h"
#include "runtime/kernel_step.h"
#include "runtime/loop_step.h"
#include "runtime/rows_step.h"
#include "runtime/segment_step.h"
#include "runtime/sizes_step.h"

namespace tenon::runtime {

/// The kinds of steps. Everything about a kind (record, encoding, check, execution) is in the files of its name.
using StepKind = std::variant<KernelStep, SegmentStep, SizesStep, BranchStep, LoopStep, CheckStep, RowsStep>;

/// A step of a program. The comment of its kind says what buffers, results and sizes are.
struct Step {
  StepKind kind;
  std::vector<uint32_t> buffers;
  std::vector<uint32_t> results;  ///< of other kinds than kernels; kMissing: a result that nothing reads
  std::vector<Slot> sizes;
  uint32_t lines = 0;  ///< how many lines of the size table are known before this step runs
  /// The size of axis `axis` of result `result` becomes the value of line `slot`.
  struct Binding {
    Slot slot = 0;
    uint32_t result = 0, axis = 0;
  };
  std::vector<Binding> bindings;  ///< lines of kind `bound` whose values are sizes of this step's results
  std::string label;              ///< the ops that it computes, for profiles and errors
};

template <class Kind>
const Kind* as(const Step& step) {
  return std::get_if<Kind>(&step.kind);
}
template <class Kind>
Kind* as(Step& step) {
  return std::get_if<Kind>(&step.kind);
}
template <class Kind>
bool is(const Step& step) {
  return std::holds_alternative<Kind>(step.kind);
}

inline std::string_view name_of(const StepKind& kind) {
  return std::visit([](const auto& k) { return k.kName; }, kind);
}

/// Numbers of the programs of the table that a step runs: its bodies.
inline auto bodies_of(const Step& step) {
  return std::visit(
      [](const auto& k) {
        if constexpr (requires { k.first_body; }) return std::views::iota(uint64_t{k.first_body}, uint64_t{k.first_body} + k.kBodies);
        else return std::views::iota(uint64_t{0}, uint64_t{0});
      },
      step.kind);
}

/// Adds `by` to the numbers of its bodies.
inline void renumber_bodies(Step& step, uint32_t by) {
  std::visit(
      [&](auto& k) {
        if constexpr (requires { k.first_body; }) k.first_body += by;
      },
      step.kind);
}

inline bool is_joined(const Step& step) {
  const auto* const kernel = as<KernelStep>(step);
  return kernel && kernel->joined;
}

}  // namespace tenon::runtime
