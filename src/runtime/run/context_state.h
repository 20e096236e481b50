// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/engine.h"
#include "runtime/run/frame.h"
#include "runtime/run/states.h"

namespace tenon::runtime {

/// The frames of an entry in one context: of its program and of its fallbacks.
class EntryFrames {
 public:
  /// states: of the context, which outlive it.
  EntryFrames(const Engine& engine, size_t entry, States& states) : engine_(engine), entry_(entry), states_(states) {
    if (engine.entries()[entry].overridable_program) defaults_ = engine.defaults(entry);
  }

  /// The frame of a program, by its number; made on first use.
  Frame& frame_of(uint32_t number) {
    for (const auto& [known, frame] : frames_)
      if (known == number) return *frame;
    Frame& made = *frames_.emplace_back(number, std::make_unique<Frame>(engine_, engine_.programs()[number], false, &states_)).second;
    for (const auto& [index, memory] : bound_) made.bind(index, memory.first, memory.second);
    return made;
  }

  /// The inputs for program `number`: where it takes overridden defaults, all, with default values for those that are not given; else the
  /// required ones.
  std::span<const Tensor> inputs_of(uint32_t number, std::span<const Tensor> given) {
    const auto overridable = engine_.entries()[entry_].overridable_program;
    if (!overridable || given.size() > engine_.inputs(entry_).size()) return given;
    const size_t required = engine_.required_inputs(entry_);
    if (number != *overridable) return given.first(std::min(given.size(), required));
    inputs_with_defaults_.assign(given.begin(), given.end());
    inputs_with_defaults_.resize(engine_.inputs(entry_).size());
    for (size_t k = required; k < inputs_with_defaults_.size(); ++k)
      if (inputs_with_defaults_[k].empty_handle()) inputs_with_defaults_[k] = defaults_[k - required];
    return inputs_with_defaults_;
  }

  void bind(size_t index, void* memory, size_t bytes) {
    for (auto& [number, frame] : frames_) frame->bind(index, memory, bytes);
    bound_[index] = {memory, bytes};
  }

  uint64_t plans_made() const {
    uint64_t made = 0;
    for (const auto& [number, frame] : frames_) made += frame->plans_made();
    return made;
  }

 private:
  const Engine& engine_;
  size_t entry_;
  States& states_;
  std::vector<std::pair<uint32_t, std::unique_ptr<Frame>>> frames_;  ///< with the number of the program; at most three
  std::map<size_t, std::pair<void*, size_t>> bound_;                 ///< memory and its bytes, by output
  std::vector<Tensor> defaults_;
  std::vector<Tensor> inputs_with_defaults_;
};

struct Context::State {
  /// values: of the states; null: all states have their initial values.
  explicit State(std::shared_ptr<const Engine> e, std::unique_ptr<States> values = nullptr)
      : engine(std::move(e)), states(std::move(values)) {
    if (!states) states = std::make_unique<States>(engine->programs().states, engine->weights());
    entries.reserve(engine->entries().size());
    for (size_t k = 0; k < engine->entries().size(); ++k) entries.emplace_back(*engine, k, *states);
    last_frame = &entries[0].frame_of(engine->entries()[0].program);
  }

  std::shared_ptr<const Engine> engine;
  std::unique_ptr<States> states;
  std::vector<EntryFrames> entries;
  Frame* last_frame = nullptr;  ///< of the last run
};

}  // namespace tenon::runtime
