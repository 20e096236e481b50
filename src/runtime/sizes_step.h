// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/step_kind.h"

namespace tenon::runtime {

/// Writes Step::sizes to its one buffer, as elements.
struct SizesStep {
  static constexpr uint32_t kNumber = 3;
  static constexpr std::string_view kName = "sizes";

  bool is_sound(const Step& step, const Program& program, const ProgramTable& table) const;
  std::unique_ptr<StepRunner> runner(const Step& step, const Values& values) const;
};

}  // namespace tenon::runtime
