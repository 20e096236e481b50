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

/// The base of the runners of branches and loops: frames of the bodies, operands and results.
class ControlRunner : public StepRunner {
 public:
  ControlRunner(const Step& step, const Engine& engine);
  ~ControlRunner() override;
  /// Errors: bad_input (a condition or trip count that is not a scalar), those of the bodies.
  Result<void> run(Values& values, const RunOptions& options, int threads) final;
  uint64_t plans_made() const final;

 protected:
  /// Memory and shape of a result. memory null: the result gets memory of its own.
  struct Place {
    void* memory = nullptr;
    Sizes shape;
  };
  /// operands: of the step, an empty handle where one is missing; outer: values of the sizes that the bodies read; places: one for each
  /// result.
  virtual Result<void> run_bodies(std::span<const Tensor> operands, std::span<const int64_t> outer, std::span<const Place> places,
                                  const RunOptions& options) = 0;
  Result<void> store_result(size_t result, const Tensor& from, const Place& place);
  Error shape_error(size_t result, const Sizes& expected, const Sizes& found) const;
  Result<int64_t> scalar_of(const Tensor& t, const char* what) const;
  const Program& program_of(size_t body) const { return *programs_[body]; }
  /// Where sizes depend on lengths of states: the shapes of the operands at the capacity of the states. Else empty.
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
  void find_largest_sizes(const Values& values);
};

/// Whether the sizes that the body reads from the enclosing program are those that the step passes.
bool has_outer_sizes(const Program& body, const Step& step);
/// Whether the body's outputs from `first_output` on can be stored to the results of the step: memory is laid out only for results whose
/// elements have fixed width.
bool fits_results(const Step& step, const Program& program, const Program& body, size_t first_output);
/// Whether row `number` of the table is a body.
bool is_body(const ProgramTable& table, uint64_t number);

}  // namespace tenon::runtime
