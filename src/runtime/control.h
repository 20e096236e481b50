// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "runtime/frame.h"
#include "runtime/row_stack.h"

namespace tenon::runtime {

/// A branch or a loop ready to run: the frames of its bodies, and what it hands to them.
class Control {
 public:
  Control(const Engine& engine, const Step& step);

  /// Where a result must go. No memory: it becomes a tensor of its own.
  struct Place {
    void* memory = nullptr;
    Sizes shape;
  };
  /// operands: those of the step, none where one is missing; outer: sizes that the bodies ask for; places: one a result.
  /// Errors: bad_input (a condition or trip count that is not one number), what the bodies say.
  Result<std::span<const Tensor>> run(std::span<const Tensor> operands, std::span<const int64_t> outer, std::span<const Place> places,
                                      const RunOptions& options);

 private:
  Result<void> branch(std::span<const Tensor> operands, std::span<const int64_t> outer, std::span<const Place> places,
                      const RunOptions& options);
  Result<void> loop(std::span<const Tensor> operands, std::span<const int64_t> outer, std::span<const Place> places, RunOptions options);
  Result<bool> iterate(int64_t iteration, std::span<const int64_t> outer, std::span<const Place> places, const RunOptions& options);
  Result<void> keep_row(size_t scan, int64_t iteration, const Tensor& row, const Place& place);
  Result<void> finish(int64_t iterations, std::span<const Place> places);
  Result<void> store_result(size_t result, const Tensor& from, const Place& place);
  Result<Tensor> stacked(size_t scan, int64_t iterations) const;
  Error misfit(size_t result, const Sizes& expected, const Sizes& found) const;

  const Step& step_;
  std::vector<std::unique_ptr<Frame>> bodies_;
  std::vector<const Program*> programs_;
  std::vector<Tensor> inputs_;    // of the body of a loop: iteration, condition, carried values, captures
  std::vector<RowStack> stacks_;  // of results without a place
  std::vector<Tensor> results_;
};

}  // namespace tenon::runtime
