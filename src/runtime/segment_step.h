// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/step_kind.h"

namespace tenon::runtime {

/// A device runs a segment. Step::buffers: operands (kMissing: none), then the weights of its blob. Step::sizes: those that it reads.
struct SegmentStep {
  static constexpr uint32_t kNumber = 2;
  static constexpr std::string_view kName = "segment";
  static constexpr bool kTakesContainers = true, kAllowsMissingBuffers = true;
  uint32_t blob = 0;  ///< number in Program::blobs

  void write(protozero::pbf_writer& to) const;
  bool read(WireReader& from);
  bool is_sound(const Step& step, const Program& program, const ProgramTable& table) const;
  std::unique_ptr<StepRunner> runner(const Step& step, const Values& values) const;
};

/// The number of operands of a segment's step: its first buffers. The others are weights of its blob.
size_t operand_count(const Program& program, const Step& step);

}  // namespace tenon::runtime
