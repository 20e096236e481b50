// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/step_kind.h"

namespace tenon::runtime {

/// Numbers the rows that are kept. Step::buffers: which places of each sequence are, bool[sequences, length]. Step::results, all i64: the
/// numbers of the wanted places, where each place is among them (0 where it is not), how many come before each sequence and in all.
/// Step::sizes: sequences and length.
struct RowsStep {
  static constexpr uint32_t kNumber = 7;
  static constexpr std::string_view kName = "rows packed";

  bool is_sound(const Step& step, const Program& program, const ProgramTable& table) const;
  std::unique_ptr<StepRunner> runner(const Step& step, const Values& values) const;
};

}  // namespace tenon::runtime
