// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "base/threads/thread_pool.h"
#include "runtime/run/context_state.h"
#include "runtime/stopping.h"

namespace tenon::runtime {

Context::Context(std::unique_ptr<State> state) : state_(std::move(state)) {}
Context::~Context() = default;

Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Engine> engine) {
  return std::unique_ptr<Context>(new Context(std::make_unique<State>(std::move(engine))));
}

Result<std::span<const Tensor>> Context::run(std::span<const Tensor> inputs, const RunOptions& options, size_t entry) {
  const uint32_t number = state_->engine->number_for(inputs, entry);
  Frame& frame = *(state_->last_frame = &state_->entries[entry].frame_of(number));
  inputs = state_->entries[entry].inputs_of(number, inputs);
  RunOptions seeded_options = options;
  seeded_options.random = {.seed = options.seed ? *options.seed : fresh_seed()};
  if (options.thread_pool == nullptr) {
    const ThreadPool::Caller caller(default_thread_pool());
    return frame.run(inputs, {}, seeded_options);
  }
  const auto check = [&] { return check_not_stopped(requested_stop(options), "the thread pool's queue"); };
  const QueuedLock::WaitCheck wait_check(check);
  const ThreadPool::Lease lease = TRY(options.thread_pool->acquire(may_be_stopped(options) ? &wait_check : nullptr));
  return frame.run(inputs, {}, seeded_options);
}

void Context::bind_output(size_t index, void* memory, size_t bytes, size_t entry) { state_->entries[entry].bind(index, memory, bytes); }

uint64_t Context::arena_bytes() const { return state_->last_frame->values().arena_bytes(); }

uint64_t Context::plans_made() const {
  uint64_t made = 0;
  for (const EntryFrames& e : state_->entries) made += e.plans_made();
  return made;
}

std::span<const int64_t> Context::sizes() const { return state_->last_frame->values().sizes(); }

Result<PlannedBytes> Context::planned_bytes(std::span<const Sizes> input_shapes, size_t entry) const {
  const Entry& e = state_->engine->entries()[entry];
  const ProgramTable& programs = state_->engine->programs();
  if (!e.overridable_program || input_shapes.size() <= programs[e.program].inputs.size())
    return runtime::planned_bytes(programs, input_shapes, e.program);
  std::vector<Sizes> shapes(input_shapes.begin(), input_shapes.end());
  const Program& overridable = programs[*e.overridable_program];
  shapes.resize(overridable.inputs.size());
  for (size_t k = 0; k < shapes.size(); ++k) {
    const PortInfo& port = overridable.inputs[k];
    if (port.default_value && shapes[k].size() != port.shape.size()) shapes[k] = port.default_value->shape;  // it is left out
  }
  return runtime::planned_bytes(programs, shapes, *e.overridable_program);
}

}  // namespace tenon::runtime
