// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/program.h"
#include "runtime/run_options.h"

namespace tenon::cli {

/// Steps of an engine that one backend ran, one after the other.
struct SegmentRun {
  std::string backend;
  std::string what;  ///< the ops of its steps
  size_t steps = 0;
  double us = 0;
  size_t copies = 0;  ///< operands and results that were copied
  uint64_t copied_bytes = 0;
};

/// Sees which segments run, in their order. What lies between segments of other backends is cpu's, which makes the program.
class SegmentRuns {
 public:
  explicit SegmentRuns(const runtime::Program& program) : program_(program) {}
  /// `options` are for one run, which ends before this does.
  void watch(runtime::RunOptions& options);
  const std::vector<SegmentRun>& runs() const { return runs_; }

 private:
  void add(const runtime::Step& step, double us);

  const runtime::Program& program_;
  std::vector<SegmentRun> runs_;
  size_t copies_ = 0;  ///< of the step that runs
  uint64_t copied_bytes_ = 0;
};

}  // namespace tenon::cli
