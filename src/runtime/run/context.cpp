// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>

#include "base/threads/thread_pool.h"
#include "runtime/run/frame.h"
#include "runtime/stopping.h"

namespace tenon::runtime {

namespace {

/// What runs of one entry use: frames of its program and of its fallbacks.
class EntryFrames {
 public:
  EntryFrames(const Engine& engine, size_t entry) : engine_(engine), entry_(entry) {
    if (engine.entries()[entry].overridable_program) defaults_ = engine.defaults(entry);
  }

  /// Made on first use.
  Frame& frame_of(uint32_t number) {
    for (const auto& [known, frame] : frames_)
      if (known == number) return *frame;
    Frame& made = *frames_.emplace_back(number, std::make_unique<Frame>(engine_, engine_.programs()[number], false)).second;
    for (const auto& [index, memory] : bound_) made.bind(index, memory.first, memory.second);
    return made;
  }

  /// The inputs of the program that takes them: all with the defaults of those that are not given, or the required ones.
  std::span<const Tensor> inputs_of(uint32_t number, std::span<const Tensor> given) {
    const auto overridable = engine_.entries()[entry_].overridable_program;
    if (!overridable || given.size() > engine_.inputs(entry_).size()) return given;
    const size_t required = engine_.required_inputs(entry_);
    if (number != *overridable) return given.first(std::min(given.size(), required));
    filled_.assign(given.begin(), given.end());
    filled_.resize(engine_.inputs(entry_).size());
    for (size_t k = required; k < filled_.size(); ++k)
      if (filled_[k].empty_handle()) filled_[k] = defaults_[k - required];
    return filled_;
  }

  void bind(size_t index, void* memory, size_t bytes) {
    for (auto& [number, frame] : frames_) frame->bind(index, memory, bytes);
    bound_[index] = {memory, bytes};
  }

  uint64_t plans_made() const {
    uint64_t made = 0;
    for (const auto& [number, frame] : frames_) made += frame->values().plans_made();
    return made;
  }

 private:
  const Engine& engine_;
  size_t entry_;
  std::vector<std::pair<uint32_t, std::unique_ptr<Frame>>> frames_;  ///< by number of their program: three at most
  std::map<size_t, std::pair<void*, size_t>> bound_;
  std::vector<Tensor> defaults_;
  std::vector<Tensor> filled_;  ///< inputs with defaults in their places
};

}  // namespace

struct Context::State {
  explicit State(std::shared_ptr<const Engine> e) : engine(std::move(e)) {
    entries.reserve(engine->entries().size());
    for (size_t k = 0; k < engine->entries().size(); ++k) entries.emplace_back(*engine, k);
    last = &entries[0].frame_of(engine->entries()[0].program);
  }

  std::shared_ptr<const Engine> engine;
  std::vector<EntryFrames> entries;
  Frame* last = nullptr;  ///< that ran
};

Context::Context(std::unique_ptr<State> state) : state_(std::move(state)) {}
Context::~Context() = default;

Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Engine> engine) {
  return std::unique_ptr<Context>(new Context(std::make_unique<State>(std::move(engine))));
}

Result<std::span<const Tensor>> Context::run(std::span<const Tensor> inputs, const RunOptions& options, size_t entry) {
  const uint32_t number = state_->engine->number_for(inputs, entry);
  Frame& frame = *(state_->last = &state_->entries[entry].frame_of(number));
  inputs = state_->entries[entry].inputs_of(number, inputs);
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

void Context::bind_output(size_t index, void* memory, size_t bytes, size_t entry) { state_->entries[entry].bind(index, memory, bytes); }

uint64_t Context::arena_bytes() const { return state_->last->values().arena_bytes(); }

uint64_t Context::plans_made() const {
  uint64_t made = 0;
  for (const EntryFrames& e : state_->entries) made += e.plans_made();
  return made;
}

std::span<const int64_t> Context::sizes() const { return state_->last->values().sizes(); }

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
    if (port.otherwise && shapes[k].size() != port.shape.size()) shapes[k] = port.otherwise->shape;  // it is left out
  }
  return runtime::planned_bytes(programs, shapes, *e.overridable_program);
}

}  // namespace tenon::runtime
