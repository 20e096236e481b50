// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/step_kind.h"

namespace tenon::runtime {

/// Runs one of two bodies. Step::buffers: the condition, operands of the one body, of the other. Step::sizes: what the bodies' `outer`
/// lines refer to.
struct BranchStep {
  static constexpr uint32_t kNumber = 4, kBodies = 2;
  static constexpr std::string_view kName = "branch";
  static constexpr bool kTakesContainers = true, kAllowsMissingBuffers = true;
  uint32_t first_body = 0;  ///< in the table of programs: that for a condition that holds; the next one is the other

  void write(protozero::pbf_writer& to) const;
  bool read(WireReader& from);
  bool is_sound(const Step& step, const Program& program, const ProgramTable& table) const;
  std::unique_ptr<StepRunner> runner(const Step& step, const Values& values) const;
};

}  // namespace tenon::runtime
