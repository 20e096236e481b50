// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/tensor.h"
#include "runtime/engine.h"
#include "runtime/run/memory.h"
#include "runtime/run/memory_canaries.h"
#include "runtime/run/size_plans.h"
#include "runtime/run/states.h"

namespace tenon::runtime {

/// Memory of the arena buffers whose sizes one step binds, and all late sizes that it was laid out for.
struct Stage {
  uint64_t earlier_sizes = 0;  ///< number of the sizes before them; 0: not laid out
  std::vector<int64_t> sizes;
  uint64_t bytes = 0;
  SizePlans plans;
  Block memory;
};

/// Sizes that those of a body's inputs do not exceed, as a rule, while one layout is to hold: those at the capacity of states.
struct SizeBounds {
  std::span<const Sizes> shapes;
  std::span<const int64_t> outer;
};

/// The sizes and buffers of one running program.
class Values {
 public:
  /// alternate: results of one run stay valid during the next one, which writes to other memory (what a loop carries). states: where the
  /// program has some.
  Values(const Engine& engine, const Program& program, bool alternate, States* states);

  const Engine& engine() const { return engine_; }
  const Program& program() const { return program_; }

  // Before and between steps.
  /// Sizes that follow from these inputs and `outer` (what SizeLine::Kind::outer refers to), memory for them, and the inputs themselves.
  /// bounds: memory is laid out for these sizes, of all inputs and of `outer`, and again only where it has no room.
  /// Errors: bad_input, shape_mismatch, size_overflow, index_out_of_range, out_of_memory.
  Result<void> begin(std::span<const Tensor> inputs, std::span<const int64_t> outer, const std::optional<SizeBounds>& bounds = {});
  /// Memory of the results that kernels write: bound, or own.
  Result<void> place_results();
  /// Sizes that step `number` has bound, and what follows from them; then its results are checked against what was promised.
  /// lines: how many lines of the size table were known before, then after it.
  Result<void> bind_sizes(uint32_t number, uint32_t& lines);
  /// Buffers have room for canaries, or not; what was laid out otherwise is laid out again.
  void set_canaries(bool wanted);
  bool has_canaries() const { return canaries_; }
  /// Where results were written between canaries, they go to the caller's buffers.
  void deliver_results();
  /// Before the first step: states that are written in place hold no whole value until keep_states().
  void open_states();
  /// After the last step: new values of states take the place of the old ones.
  void keep_states();

  // In steps.
  int64_t size(Slot slot) const { return sizes_[slot]; }
  std::span<const int64_t> sizes() const { return sizes_; }
  void* pointer(uint32_t buffer) const { return pointers_[buffer]; }
  void set_pointer(uint32_t buffer, void* memory) { pointers_[buffer] = memory; }
  Sizes shape_of(uint32_t buffer) const;
  Tensor tensor_of(uint32_t buffer) const;
  /// An empty handle where a buffer is missing.
  std::vector<Tensor> tensors_of(std::span<const uint32_t> buffers) const;
  /// The sizes that only a step's results give, and the results themselves where no buffer was there before them.
  Result<void> take_results(const Step& step, std::span<const Tensor> results);
  /// What is promised of the result's type. Errors: dtype_mismatch, bad_input.
  Result<void> check_type(const Step& step, uint32_t buffer, const Tensor& t) const;
  /// The result of an earlier run is released.
  void release(uint32_t buffer) { dynamic_[buffer] = Tensor(); }
  /// Number of the sizes that are run, as far as they follow from inputs and states; differs where sizes do.
  uint64_t sizes_number() const { return is_growing() ? lengths_number_ : plan_->number; }
  /// Whether sizes vary under one layout: they follow from lengths of states.
  bool is_growing() const { return is_growing_ || is_bounded_; }
  /// At the capacity of states, where memory is laid out for that: sizes that are known before the first step. Else those of this run.
  Sizes largest_shape(uint32_t buffer) const;
  int64_t largest_size(Slot slot) const { return slot < program_.input_lines ? plan_->sizes[slot] : sizes_[slot]; }

  // Around runs.
  std::span<const Tensor> results() const { return results_; }
  void bind(size_t index, void* memory, size_t bytes) { bound_[index] = {memory, bytes}; }
  /// Of the sizes last run; 0 before.
  uint64_t arena_bytes() const;
  /// How many times memory was laid out for sizes that none of the last runs had.
  uint64_t plans_made() const;
  /// Bytes kept free on each side of what kernels write.
  uint64_t margin() const { return canaries_ ? MemoryCanaries::kBytes : 0; }

 private:
  bool has_same_sizes(std::span<const Tensor> inputs, std::span<const int64_t> outer) const;
  void set_key(std::span<const Sizes> shapes, std::span<const int64_t> outer);
  Result<void> size_inputs(std::span<const Tensor> inputs);
  Result<const SizePlan*> plan_sizes(std::span<const Tensor> inputs);
  const SizePlan* plan_capacity(const std::optional<SizeBounds>& bounds);
  Result<const SizePlan*> plan_lengths();
  bool has_room(const SizePlan& plan) const;
  void find_states();
  void find_varying();
  size_t room_for(uint32_t buffer, size_t bytes) const;
  Result<void> take_states();
  Result<void> place_states();
  Sizes state_shape(uint32_t port) const;
  bool has_state_sizes(uint32_t port) const;
  Result<void> size_lengths(std::span<const Tensor> inputs, const std::optional<SizeBounds>& bounds);
  Result<void> check_lengths() const;
  GivenSizes given() const { return {shapes_, outer_, lengths_, state_shapes_}; }
  Result<const SizePlan*> plan_stage(Stage& stage, uint32_t from, uint32_t to);
  const SizePlan* plan_stage_capacity(Stage& stage, uint32_t from, uint32_t to);
  void point_into(std::byte* arena, const Layout& layout);
  Result<void> take_inputs(std::span<const Tensor> inputs);
  Result<void> place_result(size_t index);
  Result<void> place_stage(uint32_t from, uint32_t to);
  Result<void> check_results(const Step& step);
  Result<void> keep_result(uint32_t buffer, const Tensor& t);
  bool has_shape(const Tensor& t, uint32_t buffer) const;

  const Engine& engine_;
  const Program& program_;
  bool alternate_ = false, canaries_ = false;
  size_t turn_ = 0;  // which of the two blocks of a result is written
  // Sizes.
  std::vector<Sizes> shapes_;  // of the inputs, as last run
  std::vector<int64_t> outer_;
  std::vector<int64_t> sizes_;
  SizePlans plans_;
  const SizePlan* plan_ = nullptr;  // of the sizes last run; null: none
  std::vector<int64_t> key_;        // of the plan that is looked for
  // States.
  States* states_;
  std::vector<std::pair<uint32_t, uint32_t>> state_buffers_;  // and the number of the state in Program::states
  std::vector<int64_t> lengths_, capacities_;                 // by number in Program::states
  std::vector<uint32_t> free_ports_;                          // of states with free sizes
  std::vector<std::pair<uint32_t, uint32_t>> given_sizes_;    // port and axis of free sizes that nothing but the state gives
  std::vector<Sizes> state_shapes_;                           // by port, of these
  std::vector<int64_t> sizes_at_capacity_;
  std::vector<int64_t> sized_lengths_;     // those that the sizes are of; empty: none
  std::vector<uint32_t> growing_buffers_;  // in the arena, sized by lengths, or all where inputs have bounds
  uint64_t lengths_number_ = 0;
  bool is_growing_ = false;  // sizes follow from lengths of the program's states
  bool is_bounded_ = false;  // inputs have bounds
  // Memory.
  Block arena_;
  std::unordered_map<uint32_t, Stage> stages_;      // by their first line of the size table
  std::vector<void*> pointers_;                     // one a buffer
  alignas(64) std::byte nothing_[kSlack * 4] = {};  // what an empty tensor points at
  // Inputs and results.
  std::vector<uint32_t> input_buffers_;
  std::vector<uint32_t> handed_on_;  // results that are inputs as they are; none is a container
  std::vector<Tensor> dynamic_;      // inputs, and results that brought their own memory, by buffer
  std::vector<Tensor> results_;
  std::vector<std::pair<void*, size_t>> bound_;
  std::vector<std::array<Block, 2>> result_blocks_;
};

}  // namespace tenon::runtime
