// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/dtype.h"
#include "runtime/step_kind.h"

namespace tenon::runtime {

/// Runs a kernel with Step::buffers and Step::sizes as its arguments; its tasks are split over threads.
struct KernelStep {
  static constexpr uint32_t kNumber = 1;
  static constexpr std::string_view kName = "kernel";
  uint32_t kernel = 0;         ///< index in CodeSection::kernel_offsets
  Slot tasks = 0, grain = 0;   ///< as of ThreadPool::run
  uint64_t scratch_bytes = 0;  ///< of each thread
  /// Of a step of a region (see `joined`): its tasks are `units` equal ranges, which are distributed evenly over `parts` parts.
  std::optional<Slot> units = {}, parts = {};
  /// It has as many parts as the step before, which is a kernel too, and part p of it reads, of what that step and those that it is joined
  /// to wrote, only what part p wrote. Buffers that joined steps use live as long as all of them.
  bool joined = false;
  Slot flops = 0;
  DType factors = DType::f32;  ///< the dtype of the products that `flops` counts: f32, or bf16 or i8 (bytes of either sign) by instructions
                               ///< of their own

  void write(protozero::pbf_writer& to) const;
  bool read(WireReader& from);
  bool is_sound(const Step& step, const Program& program, const ProgramTable& table) const;
  /// Null: kernels are run by KernelCalls and Regions.
  std::unique_ptr<StepRunner> runner(const Step& step, const Values& values) const;
};

}  // namespace tenon::runtime
