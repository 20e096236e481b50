// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include "base/threads/thread_pool.h"
#include "runtime/frame.h"
#include "runtime/stopping.h"

namespace tenon::runtime {

struct Context::State {
  explicit State(std::shared_ptr<const Engine> e) : engine(std::move(e)), frame(*engine, engine->program(), false) {
    if (!engine->program().overridable.empty()) complete = engine->defaults();
  }

  /// The frame of a program of the engine; those of the one behind and of the overridable one are made on first use.
  Frame& frame_of(const Program& program) {
    if (&program == &engine->program()) return *(last = &frame);
    std::optional<Frame>& other = !engine->program().behind.empty() && &program == &engine->program().behind[0] ? behind : overriding;
    if (!other) {
      other.emplace(*engine, program, false);
      for (const auto& [index, memory] : bound) other->bind(index, memory.first, memory.second);
    }
    return *(last = &*other);
  }

  /// The inputs of the program that takes them: all with the defaults of those that are not given, or the required ones.
  std::span<const Tensor> inputs_of(const Program& program, std::span<const Tensor> given) {
    const size_t required = engine->required_inputs();
    if (engine->program().overridable.empty() || given.size() > engine->inputs().size()) return given;
    if (&program != &engine->program().overridable[0]) return given.first(std::min(given.size(), required));
    filled.assign(given.begin(), given.end());
    filled.resize(engine->inputs().size());
    for (size_t k = required; k < filled.size(); ++k)
      if (filled[k].empty_handle()) filled[k] = complete[k - required];
    return filled;
  }

  bool has_other_programs() const { return !engine->program().behind.empty() || !engine->program().overridable.empty(); }

  std::shared_ptr<const Engine> engine;
  Frame frame;
  std::optional<Frame> behind, overriding;
  Frame* last = &frame;
  std::map<size_t, std::pair<void*, size_t>> bound;  ///< kept where there are other programs
  std::vector<Tensor> complete;                      ///< the defaults
  std::vector<Tensor> filled;                        ///< inputs with defaults in their places
};

Context::Context(std::unique_ptr<State> state) : state_(std::move(state)) {}
Context::~Context() = default;

Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Engine> engine) {
  return std::unique_ptr<Context>(new Context(std::make_unique<State>(std::move(engine))));
}

Result<std::span<const Tensor>> Context::run(std::span<const Tensor> inputs, const RunOptions& options) {
  const Program& program = state_->engine->program_for(inputs);
  Frame& frame = state_->frame_of(program);
  inputs = state_->inputs_of(program, inputs);
  RunOptions drawing = options;
  drawing.random = {.seed = options.seed ? *options.seed : fresh_seed()};
  if (options.thread_pool == nullptr) {
    const ThreadPool::Caller caller(default_thread_pool());
    return frame.run(inputs, {}, drawing);
  }
  const auto ask = [&] { return go_on(asked_to_stop(options), "the thread pool's queue"); };
  const QueuedLock::GoOn waits(ask);
  const ThreadPool::Lease turn = TRY(options.thread_pool->acquire(is_watched(options) ? &waits : nullptr));
  return frame.run(inputs, {}, drawing);
}

void Context::bind_output(size_t index, void* memory, size_t bytes) {
  state_->frame.bind(index, memory, bytes);
  if (state_->has_other_programs()) state_->bound[index] = {memory, bytes};
  for (auto* other : {&state_->behind, &state_->overriding})
    if (*other) (*other)->bind(index, memory, bytes);
}

uint64_t Context::arena_bytes() const { return state_->last->arena_bytes(); }

std::span<const int64_t> Context::sizes() const { return state_->last->sizes(); }

Result<PlannedBytes> Context::planned_bytes(std::span<const Sizes> input_shapes) const {
  const Program& program = state_->engine->program();
  if (program.overridable.empty() || input_shapes.size() <= program.inputs.size()) return runtime::planned_bytes(program, input_shapes);
  std::vector<Sizes> shapes(input_shapes.begin(), input_shapes.end());
  const Program& overridable = program.overridable[0];
  shapes.resize(overridable.inputs.size());
  for (size_t k = 0; k < shapes.size(); ++k) {
    const PortInfo& port = overridable.inputs[k];
    if (port.otherwise && shapes[k].size() != port.shape.size()) shapes[k] = port.otherwise->shape;  // it is left out
  }
  return runtime::planned_bytes(overridable, shapes);
}

}  // namespace tenon::runtime
