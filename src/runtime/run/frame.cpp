// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/frame.h"

#include <algorithm>
#include <chrono>

#include "base/threads/thread_pool.h"
#include "runtime/input_checks.h"
#include "runtime/stopping.h"

namespace tenon::runtime {

Frame::Frame(const Engine& engine, const Program& program, bool alternate, States* states)
    : program_(program), values_(engine, program, alternate, states), kernels_(engine, program), regions_(program) {
  for (const Step& step : program.steps)
    runners_.push_back(std::visit([&](const auto& kind) { return kind.runner(step, values_); }, step.kind));
}

Frame::~Frame() = default;

Result<std::span<const Tensor>> Frame::run(std::span<const Tensor> inputs, std::span<const int64_t> outer, const RunOptions& options,
                                           const std::optional<SizeBounds>& bounds) {
  TRY(check_types(program_, inputs));
  const int all = thread_pool_of(options).size(), threads = options.threads > 0 ? std::min(options.threads, all) : all;
  set_canaries(options.check_memory);
  TRY(values_.begin(inputs, outer, bounds));
  TRY(kernels_.begin(threads, values_.margin()));
  TRY(run_steps(options, threads));
  TRY(check_not_stopped(requested_stop(options), "run"));
  values_.commit_states();
  return values_.results();
}

uint64_t Frame::plans_made() const {
  uint64_t made = values_.plans_made();
  for (const auto& runner : runners_) made += runner ? runner->plans_made() : 0;
  return made;
}

Result<void> Frame::run_step(uint32_t number, const RunOptions& options, int threads) {
  if (const auto* kernel = as<KernelStep>(program_.steps[number])) return kernels_.run(number, *kernel, values_, options, threads);
  return runners_[number]->run(values_, options, threads);
}

Result<void> Frame::run_steps(const RunOptions& options, int threads) {
  using Clock = std::chrono::steady_clock;
  uint32_t lines = program_.input_lines;
  TRY(values_.place_results());
  for (uint32_t k = 0; k < program_.steps.size(); ++k) {
    TRY(check_not_stopped(requested_stop(options), program_.steps[k].label));
    if (k == 0) values_.begin_state_writes();
    if (const uint32_t last = regions_.last_of(k, values_); last > k) {
      TRY(regions_.run(k, last, values_, kernels_, options, threads));
      TRY(values_.bind_sizes(k = last, lines));
      continue;
    }
    if (canaries_) canaries_before(k, lines, threads);
    const auto start = options.on_step ? Clock::now() : Clock::time_point{};
    TRY(run_step(k, options, threads));
    if (canaries_) TRY(canaries_after(k, threads));
    if (options.on_step) options.on_step(k, start, Clock::now());
    TRY(values_.bind_sizes(k, lines));
  }
  if (canaries_) values_.deliver_results();
  return {};
}

}  // namespace tenon::runtime
