// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/step_kind.h"

namespace tenon::runtime {

/// Runs its body once an iteration. Step::buffers: trip count and condition (kMissing: none), carried values, captures. Step::results:
/// carried values, then stacked rows. Step::sizes: as of a branch.
struct LoopStep {
  static constexpr uint32_t kNumber = 5, kBodies = 1;
  static constexpr std::string_view kName = "loop";
  static constexpr bool kTakesContainers = true, kAllowsMissingBuffers = true;
  uint32_t first_body = 0;  ///< in the table of programs
  uint32_t carried = 0;     ///< values carried from one iteration to the next

  void write(protozero::pbf_writer& to) const;
  bool read(WireReader& from);
  bool is_sound(const Step& step, const Program& program, const ProgramTable& table) const;
  std::unique_ptr<StepRunner> runner(const Step& step, const Values& values) const;
};

}  // namespace tenon::runtime
