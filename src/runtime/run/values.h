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

/// The arena buffers whose sizes become known with the results of one step: their layouts and memory.
struct Stage {
  uint64_t earlier_sizes = 0;  ///< sizes_number() that the layout is for; 0: not laid out
  std::vector<int64_t> sizes;
  uint64_t bytes = 0;
  SizePlans plans;
  Block memory;
};

/// Upper bounds of the sizes of a body's inputs, for which memory is laid out once: the sizes at the capacity of states.
struct SizeBounds {
  std::span<const Sizes> shapes;
  std::span<const int64_t> outer;
};

/// The sizes and buffers of one running program.
class Values {
 public:
  /// alternate: results of a run stay valid during the next run, which writes to other memory (values that a loop carries). states: null
  /// where the program has none.
  Values(const Engine& engine, const Program& program, bool alternate, States* states);

  const Engine& engine() const { return engine_; }
  const Program& program() const { return program_; }

  // Before and between steps.
  /// Sizes that follow from these inputs and `outer` (what SizeLine::Kind::outer refers to), memory for them, and the inputs themselves.
  /// bounds: memory is laid out for these sizes, of all inputs and of `outer`, and again only where it has no room.
  /// Errors: bad_input, shape_mismatch, size_overflow, index_out_of_range, out_of_memory.
  Result<void> begin(std::span<const Tensor> inputs, std::span<const int64_t> outer, const std::optional<SizeBounds>& bounds = {});
  /// Sets the memory of results that kernels write: bound by the caller, or allocated here.
  Result<void> place_results();
  /// Computes the sizes that follow from results of step `number`, and checks the results against their declared types. lines: how many
  /// lines of the size table are known, before and after the call.
  Result<void> bind_sizes(uint32_t number, uint32_t& lines);
  /// Whether layouts leave room for canaries; where that changes, memory is laid out again.
  void set_canaries(bool wanted);
  bool has_canaries() const { return canaries_; }
  /// With canaries: copies results to the memory that the caller has bound.
  void deliver_results();
  /// Before the first step: marks states that are written in place as invalid until commit_states().
  void begin_state_writes();
  /// After the last step: replaces the values of states by the new ones, and marks all states as valid.
  void commit_states();

  // In steps.
  int64_t size(Slot slot) const { return sizes_[slot]; }
  std::span<const int64_t> sizes() const { return sizes_; }
  void* pointer(uint32_t buffer) const { return pointers_[buffer]; }
  void set_pointer(uint32_t buffer, void* memory) { pointers_[buffer] = memory; }
  Sizes shape_of(uint32_t buffer) const;
  Tensor tensor_of(uint32_t buffer) const;
  /// An empty handle where a buffer is missing.
  std::vector<Tensor> tensors_of(std::span<const uint32_t> buffers) const;
  /// Sets the lines of the size table that the step binds from the shapes of its results, and stores results in memory of their own.
  Result<void> take_results(const Step& step, std::span<const Tensor> results);
  /// Checks the result against its declared type. Errors: dtype_mismatch, bad_input.
  Result<void> check_type(const Step& step, uint32_t buffer, const Tensor& t) const;
  /// Releases the result of an earlier run.
  void release(uint32_t buffer) { dynamic_[buffer] = Tensor(); }
  /// A number that identifies the current sizes, as far as they follow from inputs and states: it differs where sizes differ.
  uint64_t sizes_number() const { return is_growing() ? lengths_number_ : plan_->number; }
  /// Whether one layout serves different sizes, since they follow from lengths of states or have bounds.
  bool is_growing() const { return is_growing_ || has_bounds_; }
  /// Where memory is laid out for the capacity of states: the sizes at that capacity. Else the sizes of this run.
  Sizes largest_shape(uint32_t buffer) const;
  int64_t largest_size(Slot slot) const { return slot < program_.input_lines ? plan_->sizes[slot] : sizes_[slot]; }

  // Around runs.
  std::span<const Tensor> results() const { return results_; }
  void bind(size_t index, void* memory, size_t bytes) { bound_[index] = {memory, bytes}; }
  /// Of the last run; 0 before.
  uint64_t arena_bytes() const;
  /// How many times memory was laid out for sizes that none of the last runs had.
  uint64_t plans_made() const;
  /// Bytes on each side of a buffer that layouts leave free for canaries.
  uint64_t margin() const { return canaries_ ? MemoryCanaries::kBytes : 0; }

 private:
  /// Whether sizes and memory of the last run hold for these inputs.
  bool has_same_sizes(std::span<const Tensor> inputs, std::span<const int64_t> outer) const;
  /// Sets key_, under which plans_ has the plan for these shapes and sizes.
  void set_key(std::span<const Sizes> shapes, std::span<const int64_t> outer);
  Result<void> plan_inputs(std::span<const Tensor> inputs);
  /// The plan for the shapes in shapes_, from plans_ or new.
  Result<const SizePlan*> plan_sizes(std::span<const Tensor> inputs);
  const SizePlan* plan_capacity(const std::optional<SizeBounds>& bounds);
  Result<const SizePlan*> plan_lengths();
  /// Whether all growing buffers of the current sizes fit in the plan's layout.
  bool has_room(const SizePlan& plan) const;
  void find_states();
  void find_growing_buffers();
  size_t bytes_to_reserve(uint32_t buffer, size_t bytes) const;
  Result<void> fetch_state_sizes();
  Result<void> place_states();
  Sizes state_shape(uint32_t port) const;
  bool has_state_sizes(uint32_t port) const;
  Result<void> compute_growing_sizes(std::span<const Tensor> inputs, const std::optional<SizeBounds>& bounds);
  /// Checks the new lengths of states against their capacities.
  Result<void> check_lengths() const;
  GivenSizes given() const { return {shapes_, outer_, lengths_, state_shapes_}; }
  Result<const SizePlan*> plan_stage(Stage& stage, uint32_t from, uint32_t to);
  const SizePlan* plan_stage_capacity(Stage& stage, uint32_t from, uint32_t to);
  void set_arena_pointers(std::byte* arena, const Layout& layout);
  Result<void> take_inputs(std::span<const Tensor> inputs);
  Result<void> place_result(size_t index);
  Result<void> place_stage(uint32_t from, uint32_t to);
  Result<void> check_results(const Step& step);
  Result<void> keep_result(uint32_t buffer, const Tensor& t);
  bool has_shape(const Tensor& t, uint32_t buffer) const;

  const Engine& engine_;
  const Program& program_;
  bool alternate_ = false, canaries_ = false;
  size_t written_block_ = 0;  // which of the two blocks of a result is written
  // Sizes.
  std::vector<Sizes> shapes_;   // of the inputs of the last run
  std::vector<int64_t> outer_;  // sizes of the enclosing program
  std::vector<int64_t> sizes_;  // by line of the size table
  SizePlans plans_;
  const SizePlan* plan_ = nullptr;  // of the last run; null: none
  std::vector<int64_t> key_;        // of the plan for the current sizes
  // States.
  States* states_;
  std::vector<std::pair<uint32_t, uint32_t>> state_buffers_;  // and the number of the state in Program::states
  std::vector<int64_t> lengths_, capacities_;                 // by number in Program::states
  std::vector<uint32_t> free_ports_;                          // of states with free sizes
  std::vector<std::pair<uint32_t, uint32_t>> given_sizes_;    // port and axis of free sizes that no input determines
  std::vector<Sizes> state_shapes_;                           // by port, of these
  std::vector<int64_t> sizes_at_capacity_;
  std::vector<int64_t> sized_lengths_;     // lengths for which sizes_ was computed; empty: none
  std::vector<uint32_t> growing_buffers_;  // in the arena, sized by lengths, or all where inputs have bounds
  uint64_t lengths_number_ = 0;
  bool is_growing_ = false;  // sizes follow from lengths of the program's states
  bool has_bounds_ = false;  // inputs have bounds
  // Memory.
  Block arena_;
  std::unordered_map<uint32_t, Stage> stages_;                 // by their first line of the size table
  std::vector<void*> pointers_;                                // one a buffer
  alignas(64) std::byte empty_tensor_bytes_[kSlack * 4] = {};  // the address of tensors without elements
  // Inputs and results.
  std::vector<uint32_t> input_buffers_;
  std::vector<uint32_t> passed_through_;  // results that are inputs, unchanged; none is a container
  std::vector<Tensor> dynamic_;           // by buffer: inputs, and results in memory of their own
  std::vector<Tensor> results_;
  std::vector<std::pair<void*, size_t>> bound_;
  std::vector<std::array<Block, 2>> result_blocks_;
};

}  // namespace tenon::runtime
