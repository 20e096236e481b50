// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/kernel_calls.h"

#include <algorithm>

#include "base/threads/thread_pool.h"
#include "runtime/stopping.h"

namespace tenon::runtime {

namespace {

constexpr int64_t kMaxTasksOfAPiece = int64_t{1} << 45;

}  // namespace

KernelCalls::KernelCalls(const Engine& engine, const Program& program)
    : engine_(engine), program_(program), calls_(program.steps.size()), stride_(scratch_stride(program)) {
  scratch_.use(engine.memory());
  size_t arguments = 0, sizes = 0;
  for (const Step& step : program.steps) {
    arguments += step.buffers.size();
    sizes += step.sizes.size();
  }
  arguments_.resize(arguments);
  sizes_.resize(sizes);
  arguments = sizes = 0;
  for (size_t k = 0; k < calls_.size(); ++k) {
    const Step& step = program.steps[k];
    calls_[k].arguments = arguments_.data() + arguments;
    calls_[k].sizes = sizes_.data() + sizes;
    calls_[k].stopped = &stopped_;
    arguments += step.buffers.size();
    sizes += step.sizes.size();
  }
}

Result<void> KernelCalls::begin(int threads, uint64_t margin) {
  stopped_.store(Stop::none, std::memory_order_relaxed);
  if (margin != margin_) stride_ = scratch_stride(program_) + 2 * margin;
  margin_ = margin;
  TRY(scratch_.reserve(stride_ * static_cast<uint64_t>(threads)));
  return {};
}

KernelCall& KernelCalls::call(uint32_t number, const KernelStep& kernel, const Values& values, const RunOptions& options) {
  const Step& step = program_.steps[number];
  KernelCall& call = calls_[number];
  for (size_t k = 0; k < step.buffers.size(); ++k) assign_if_changed(call.arguments[k], values.pointer(step.buffers[k]));
  for (size_t k = 0; k < step.sizes.size(); ++k) assign_if_changed(call.sizes[k], values.size(step.sizes[k]));
  assign_if_changed(call.function, engine_.kernel(kernel.kernel));
  assign_if_changed(call.scratch, scratch_of(0));
  assign_if_changed(call.stride, stride_);
  assign_if_changed(call.stop_options, may_be_stopped(options) ? &options : nullptr);
  const int64_t grain = std::clamp<int64_t>(values.size(kernel.grain), 1, kMaxTasksOfAPiece);
  assign_if_changed(call.piece, grain > 1 ? grain * kChunksOfAPiece : 1);  // with a grain of 1, one task may take long
  return call;
}

Result<void> KernelCalls::run(uint32_t number, const KernelStep& kernel, const Values& values, const RunOptions& options, int threads) {
  const int64_t tasks = values.size(kernel.tasks);
  if (tasks <= 0) return {};
  thread_pool_of(options).run(tasks, std::max<int64_t>(1, values.size(kernel.grain)), call(number, kernel, values, options), threads);
  return check_not_stopped(stopped(), program_.steps[number].label);  // not the token, which may be reset by now
}

}  // namespace tenon::runtime
