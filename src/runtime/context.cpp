// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>

#include "base/threads.h"
#include "runtime/frame.h"
#include "runtime/stopping.h"

namespace tenon::runtime {

struct Context::State {
  explicit State(std::shared_ptr<const Engine> e) : engine(std::move(e)), frame(*engine, engine->program(), false) {}

  /// The frame of the program that takes these inputs; that of the one behind is made on first use.
  Frame& frame_for(std::span<const Tensor> inputs) {
    const Program& program = engine->program_for(inputs);
    if (&program == &engine->program()) return *(last = &frame);
    if (!behind) {
      behind.emplace(*engine, program, false);
      for (const auto& [index, memory] : bound) behind->bind(index, memory.first, memory.second);
    }
    return *(last = &*behind);
  }

  std::shared_ptr<const Engine> engine;
  Frame frame;
  std::optional<Frame> behind;
  Frame* last = &frame;
  std::map<size_t, std::pair<void*, size_t>> bound;  ///< kept where there is a program behind
};

Context::Context(std::unique_ptr<State> state) : state_(std::move(state)) {}
Context::~Context() = default;

Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Engine> engine) {
  return std::unique_ptr<Context>(new Context(std::make_unique<State>(std::move(engine))));
}

Result<std::span<const Tensor>> Context::run(std::span<const Tensor> inputs, const RunOptions& options) {
  Frame& frame = state_->frame_for(inputs);
  if (options.team == nullptr) {
    const Team::Caller caller(default_team());
    return frame.run(inputs, {}, options);
  }
  const auto ask = [&] { return go_on(asked_to_stop(options), "the team's queue"); };
  const QueuedLock::GoOn waits(ask);
  const Team::Turn turn = TRY(options.team->take_turn(is_watched(options) ? &waits : nullptr));
  return frame.run(inputs, {}, options);
}

void Context::bind_output(size_t index, void* memory, size_t bytes) {
  state_->frame.bind(index, memory, bytes);
  if (!state_->engine->program().behind.empty()) state_->bound[index] = {memory, bytes};
  if (state_->behind) state_->behind->bind(index, memory, bytes);
}

uint64_t Context::arena_bytes() const { return state_->last->arena_bytes(); }

std::span<const int64_t> Context::sizes() const { return state_->last->sizes(); }

Result<PlannedBytes> Context::planned_bytes(std::span<const Sizes> input_shapes) const {
  return runtime::planned_bytes(state_->engine->program(), input_shapes);
}

}  // namespace tenon::runtime
