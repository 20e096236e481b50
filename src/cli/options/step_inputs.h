// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "cli/options/input_options.h"
#include "files/npz.h"

namespace tenon::cli {

/// The inputs of consecutive runs (steps). An array of a file is the input of every step; where it has one dimension more than the input,
/// and the first is the number of steps, it has one value for each step. Inputs without a file are random, different in each step.
class StepInputs {
 public:
  /// steps: none for one run, whose files have no dimension of steps. ports: outlive this. shapes: see compiler::default_shapes.
  /// Errors: bad_usage, bad_input (no such input, one that is given twice, other sizes than `steps` and `shapes` say), those of reading the
  /// files.
  static Result<StepInputs> make(const InputOptions& options, std::span<const runtime::PortInfo> ports,
                                 const std::vector<import::RequestedShape>& shapes, std::optional<int64_t> steps = {});
  /// The inputs of the next run. Inputs with a default that no file gives are left out: empty handles, or none at the end. Errors: those of
  /// drawing.
  Result<std::vector<Tensor>> next();

 private:
  /// The array of a file for the port; null: there is none.
  const Tensor* given(const runtime::PortInfo& port) const;
  Result<void> check(const runtime::PortInfo& port, const Tensor& given) const;
  Result<Tensor> input(size_t k);

  files::NamedTensors given_;
  std::span<const runtime::PortInfo> ports_;
  std::vector<import::RequestedShape> requested_;
  std::vector<Sizes> shapes_;
  std::optional<int64_t> steps_;
  std::mt19937_64 random_;
  int64_t step_ = 0;
};

}  // namespace tenon::cli
