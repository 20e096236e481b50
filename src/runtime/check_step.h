// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/step_kind.h"

namespace tenon::runtime {

/// Fails where an index is outside of an extent. Step::buffers: smallest and largest index, i64[]. Step::sizes: the extent.
struct CheckStep {
  static constexpr uint32_t kNumber = 6;
  static constexpr std::string_view kName = "index check";
  bool from_end = false;  ///< indices may count from the end

  void write(protozero::pbf_writer& to) const;
  bool read(WireReader& from);
  bool is_sound(const Step& step, const Program& program, const ProgramTable& table) const;
  std::unique_ptr<StepRunner> runner(const Step& step, const Values& values) const;
};

}  // namespace tenon::runtime
