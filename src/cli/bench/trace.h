// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/tensor.h"
#include "cli/bench/measure.h"
#include "runtime/engine.h"

namespace tenon::cli {

/// When each step of some runs began and how long it took, in microseconds from the first one.
struct Profile {
  struct Event {
    uint32_t run = 0, step = 0;
    double begin_us = 0, length_us = 0;
  };
  std::vector<Event> events;
  uint32_t runs = 0;
};
/// Runs an entry `runs` times with profiling.
Result<Profile> profile(runtime::Context& context, std::span<const Tensor> inputs, const runtime::RunOptions& options, uint32_t runs,
                        size_t entry = 0);

/// Milliseconds of each step: the median over the runs; 0 for steps that did not run.
std::vector<double> step_times(const runtime::Program& program, const Profile& profile);

/// Floating-point operations of each step. sizes: of a run (Context::sizes).
std::vector<double> flops_of_steps(const runtime::Program& program, std::span<const int64_t> sizes);

/// The floating-point operations of a run by kind of product; operations that are no products count as f32. flops: of the steps.
ByProductKind flops_by_products(const runtime::Program& program, std::span<const double> flops);

/// Bytes of weights that a run reads, each counted once. flops: of the steps. A step reads no more elements of a weight than it has
/// operations: to distinguish a gather from a product.
double weight_bytes_read(const runtime::Program& program, std::span<const int64_t> sizes, std::span<const double> flops);

/// The times of all steps with one label.
struct KernelTime {
  std::string label;
  size_t calls = 0;  ///< in a run
  double ms = 0;     ///< in a run: the sum of its steps' median times
  double share = 0;  ///< fraction of the sum over all labels
  double gflops = 0;
};
/// Times by label, the longest first.
std::vector<KernelTime> kernel_times(const runtime::Program& program, const Profile& profile, std::span<const double> flops);

/// The profile in the JSON format of chrome://tracing and Perfetto.
std::string chrome_trace(const runtime::Program& program, const Profile& profile, std::span<const double> flops);

}  // namespace tenon::cli
