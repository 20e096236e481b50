// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "runtime/run/kernel_calls.h"
#include "runtime/run/memory_canaries.h"
#include "runtime/run/regions.h"
#include "runtime/run/values.h"

namespace tenon::runtime {

/// One running instance of a program: an entry's or a fallback's, or the body of a branch or loop, which has sizes and memory of its own.
class Frame {
 public:
  /// alternate, states: as in the constructor of Values.
  Frame(const Engine& engine, const Program& program, bool alternate, States* states = nullptr);
  ~Frame();

  /// outer: values of lines of SizeLine::Kind::outer. bounds: as in Values::begin. Results are valid until the next run, with `alternate`
  /// until the one after it. Errors: as Context::run.
  Result<std::span<const Tensor>> run(std::span<const Tensor> inputs, std::span<const int64_t> outer, const RunOptions& options,
                                      const std::optional<SizeBounds>& bounds = {});
  /// From the next run on, result `index` is written to `memory`; nullptr: to memory of the frame.
  void bind(size_t index, void* memory, size_t bytes) { values_.bind(index, memory, bytes); }
  const Values& values() const { return values_; }
  /// How many times it, and bodies that it ran, laid out memory.
  uint64_t plans_made() const;

 private:
  Result<void> run_steps(const RunOptions& options, int threads);
  Result<void> run_step(uint32_t number, const RunOptions& options, int threads);
  void set_canaries(bool wanted);
  void canaries_before(uint32_t number, uint32_t lines, int threads);
  Result<void> canaries_after(uint32_t number, int threads);

  const Program& program_;
  Values values_;
  KernelCalls kernels_;
  Regions regions_;
  std::vector<std::unique_ptr<StepRunner>> runners_;  // by step; null for kernels
  std::unique_ptr<MemoryCanaries> canaries_;          // null but where RunOptions::check_memory is set
};

}  // namespace tenon::runtime
