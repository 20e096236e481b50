// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/program_table.h"
#include "runtime/run/values.h"
#include "runtime/run_options.h"

namespace tenon::runtime {

class Frame;

/// What the runners of branches and loops have in common: frames of the bodies, operands and results.
class ControlRunner : public StepRunner {
 public:
  ControlRunner(const Step& step, const Engine& engine);
  ~ControlRunner() override;
  /// Errors: bad_input (a condition or trip count that is not a scalar), those of the bodies.
  Result<void> run(Values& values, const RunOptions& options, int threads) final;
  uint64_t plans_made() const final;

 protected:
  /// Where a result must go. No memory: it becomes a tensor of its own.
  struct Place {
    void* memory = nullptr;
    Sizes shape;
  };
  /// operands: those of the step, none where one is missing; outer: sizes that the bodies refer to; places: one a result.
  virtual Result<void> run_bodies(std::span<const Tensor> operands, std::span<const int64_t> outer, std::span<const Place> places,
                                  const RunOptions& options) = 0;
  Result<void> store_result(size_t result, const Tensor& from, const Place& place);
  Error misfit(size_t result, const Sizes& expected, const Sizes& found) const;
  Result<int64_t> scalar_of(const Tensor& t, const char* what) const;
  const Program& program_of(size_t body) const { return *programs_[body]; }
  /// Of sizes that follow from lengths of states: the shapes of the operands at the capacity. None where no sizes do.
  std::span<const Sizes> largest_operands() const { return largest_operands_; }
  std::span<const int64_t> largest_outer() const { return largest_outer_; }

  const Step& step_;
  std::vector<std::unique_ptr<Frame>> bodies_;
  std::vector<Tensor> results_;

 private:
  std::vector<const Program*> programs_;
  std::vector<int64_t> outer_, largest_outer_;
  std::vector<Sizes> largest_operands_;
  std::vector<Place> places_;
  void find_bounds(const Values& values);
};

/// The body has what the step gives it sizes for.
bool has_outer_sizes(const Program& body, const Step& step);
/// Results that bodies give have a fixed place only where their elements have fixed width. first_output: of the body, the first that is a
/// result of the step.
bool fits_results(const Step& step, const Program& program, const Program& body, size_t first_output);
/// Whether row `number` of the table is a body.
bool is_body(const ProgramTable& table, uint64_t number);

}  // namespace tenon::runtime
