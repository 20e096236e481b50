// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/dtype.h"
#include "runtime/step_kind.h"

namespace tenon::runtime {

/// Runs generated code on Step::buffers, its arguments, with Step::sizes; its tasks are split over threads.
struct KernelStep {
  static constexpr uint32_t kNumber = 1;
  static constexpr std::string_view kName = "kernel";
  uint32_t kernel = 0;  ///< entry of the code section
  Slot tasks = 0, grain = 0;
  uint64_t scratch_bytes = 0;  ///< of each thread
  /// Where both are given, its tasks are so many equal runs, `units`, which `parts` split evenly.
  std::optional<Slot> units = {}, parts = {};
  /// It has as many parts as the step before, which is a kernel too, and part p of it reads, of what that step and those that it is joined
  /// to wrote, only what part p wrote. Buffers that joined steps use live as long as all of them.
  bool joined = false;
  Slot flops = 0;
  DType factors = DType::f32;  ///< what `flops` are products of: f32, or bf16 or i8 (bytes of either sign) by instructions of their own

  void write(protozero::pbf_writer& to) const;
  bool read(WireReader& from);
  bool is_sound(const Step& step, const Program& program, const ProgramTable& table) const;
  /// Null: kernels are run by KernelCalls and Regions.
  std::unique_ptr<StepRunner> runner(const Step& step, const Values& values) const;
};

}  // namespace tenon::runtime
