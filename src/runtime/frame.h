// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/tensor.h"
#include "runtime/engine.h"
#include "runtime/guards.h"
#include "runtime/kernel_call.h"
#include "runtime/memory.h"
#include "runtime/program.h"
#include "runtime/size_plans.h"

namespace tenon::runtime {

class Control;

/// A segment of a step, and where its memory is.
struct StepSegment {
  std::unique_ptr<Segment> segment;        ///< null: not made yet
  InPlace* in_place = nullptr;             ///< null: it runs on tensors
  uint64_t plan = 0;                       ///< number of the plan for whose sizes its shapes are set
  std::vector<uint32_t> operands, places;  ///< buffers whose memory they have; kMissing: none
  std::vector<void*> pointers;             ///< of the operands, then of the places
  std::vector<size_t> kept;                ///< places whose results stay in its memory: they are of this frame alone
};

/// Memory of the arena buffers whose sizes one step tells, and all sizes behind the door that it was laid out for.
struct Stage {
  uint64_t plan = 0;  ///< number of the plan of the sizes before them; 0: not laid out
  std::vector<int64_t> sizes;
  uint64_t bytes = 0;
  SizePlans plans;
  Block memory;
};

/// One running instance of a program: the engine's own, or the body of a branch or loop, which has sizes and memory of its own.
class Frame {
 public:
  /// `alternate`: results of one run stay valid during the next one, which writes to other memory (what a loop carries).
  Frame(const Engine& engine, const Program& program, bool alternate);
  ~Frame();

  /// outer: what SizeLine::Kind::outer counts. Results are valid until the next run (the one after it, where they alternate).
  /// Errors: as Context::run.
  Result<std::span<const Tensor>> run(std::span<const Tensor> inputs, std::span<const int64_t> outer, const RunOptions& options);
  /// Result `index` is written there from the next run on; nullptr: to memory of the frame.
  void bind(size_t index, void* memory, size_t bytes) { bound_[index] = {memory, bytes}; }
  /// Of the sizes last run.
  uint64_t arena_bytes() const;
  std::span<const int64_t> sizes() const { return sizes_; }
  /// How many times memory was laid out for sizes that none of the last runs had.
  uint64_t plans_made() const;

 private:
  Result<void> prepare(std::span<const Tensor> inputs, std::span<const int64_t> outer, int threads);
  bool same_sizes(std::span<const Tensor> inputs, std::span<const int64_t> outer) const;
  Result<const SizePlan*> plan_sizes(std::span<const Tensor> inputs);
  Result<const SizePlan*> plan_stage(Stage& stage, uint32_t from, uint32_t to);
  void point_into(std::byte* arena, const Layout& layout);
  Result<void> take_inputs(std::span<const Tensor> inputs);
  Result<void> place_results();
  Result<void> place_result(size_t index);
  Result<void> share_result(size_t index);
  Result<void> settle(uint32_t from, uint32_t to);
  Result<void> keep_result(uint32_t buffer, const Tensor& t);
  Sizes shape_of(uint32_t buffer) const;
  bool has_shape(const Tensor& t, uint32_t buffer) const;
  Tensor tensor_of(uint32_t buffer) const;
  std::vector<Tensor> tensors_of(std::span<const uint32_t> buffers) const;
  Result<void> run_step(uint32_t number, const RunOptions& options, int threads);
  void make_calls();
  KernelCall& called(uint32_t number, const RunOptions& options);
  Result<void> run_kernel(uint32_t number, const RunOptions& options, int threads);
  uint32_t last_of_region(uint32_t first) const;
  void keep_arguments(const Step& step, size_t first_argument, int64_t parts, int threads);
  void* const* arguments_of(int thread, int64_t part, int64_t parts);
  Result<void> run_region(uint32_t first, uint32_t last, const RunOptions& options, int threads);
  void report_region(uint32_t first, std::chrono::steady_clock::time_point start, const RunOptions& options) const;
  Result<void> run_segment(const Step& step, const RunOptions& options, int threads);
  Result<void> make_segment(const Step& step, StepSegment& made, int threads);
  Result<void> run_in_place(const Step& step, StepSegment& segment, const RunOptions& options, int threads);
  bool has_fixed_sizes(std::span<const uint32_t> buffers) const;
  uint32_t root_of(uint32_t buffer) const;
  Result<void> bring(Tensor& result, const Tensor& place, uint32_t buffer, const Step& step, const RunOptions& options) const;
  Result<void> own(Tensor& result, const Step& step, const std::vector<Tensor>& operands, const RunOptions& options) const;
  Result<void> check_type(const Step& step, uint32_t buffer, const Tensor& t) const;
  Result<void> run_control(uint32_t number, const RunOptions& options);
  Result<void> take_results(const Step& step, std::span<const Tensor> out);
  Result<void> learn_sizes(uint32_t number, uint32_t& lines);
  void write_sizes(const Step& step);
  Result<void> check_indices(const Step& step) const;
  Result<void> pack_rows(const Step& step);
  void guard(bool wanted);
  void guard_before(uint32_t number, uint32_t lines, int threads);
  Result<void> guard_after(uint32_t number, int threads);
  void deliver();
  Result<void> run_steps(const RunOptions& options, int threads);

  std::byte* scratch_of(int thread) const { return scratch_.data() + margin() + scratch_stride_ * static_cast<uint64_t>(thread); }
  /// Bytes kept free on each side of what kernels write.
  uint64_t margin() const { return guards_ ? Guards::kBytes : 0; }

  const Engine& engine_;
  const Program& program_;
  bool alternate_ = false;
  size_t turn_ = 0;            // which of the two blocks of a result is written
  std::vector<Sizes> shapes_;  // of the inputs, as last run
  std::vector<int64_t> outer_;
  std::vector<int64_t> sizes_;
  SizePlans plans_;
  const SizePlan* plan_ = nullptr;  // of the sizes last run; null: none
  std::vector<int64_t> key_;        // of the plan that is looked for
  Block arena_, scratch_;
  uint64_t scratch_stride_ = 0;
  std::vector<void*> pointers_;  // one a buffer
  std::vector<uint32_t> input_buffers_;
  std::vector<uint32_t> handed_on_;                                    // results that are inputs as they are; none holds tensors
  std::vector<Tensor> dynamic_;                                        // inputs, and results that brought their own memory, by buffer
  std::unordered_map<uint32_t, Stage> stages_;                         // by their first line of the size table
  std::unordered_map<uint32_t, std::shared_ptr<Tensor>> row_numbers_;  // by buffer
  std::vector<StepSegment> segments_;                                  // by step; made when they first run
  std::vector<std::unique_ptr<Control>> controls_;                     // by step; null for the others
  std::vector<Tensor> results_;
  std::vector<std::pair<void*, size_t>> bound_;
  std::vector<std::array<Block, 2>> result_blocks_;
  std::vector<KernelCall> calls_;  // by step
  std::vector<void*> arguments_;   // of all calls
  std::vector<int64_t> step_sizes_;
  std::atomic<Stop> stopped_{Stop::none};
  // Of the region that runs.
  std::vector<KernelOfRegion> region_;
  std::vector<KeptArgument> kept_;
  std::span<void* const> arguments_of_region_;
  std::vector<void*> arguments_of_threads_;
  std::unique_ptr<Guards> guards_;                  // null but where RunOptions::guard is set
  alignas(64) std::byte nothing_[kSlack * 4] = {};  // what an empty tensor points at
};

}  // namespace tenon::runtime
