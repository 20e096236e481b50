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

/// Records which segments run, in order. Steps between segments of other backends belong to cpu, the host backend.
class SegmentRuns {
 public:
  explicit SegmentRuns(const runtime::Program& program) : program_(program) {}
  /// Hooks into the options of one run, which must end before this object is destroyed.
  void watch(runtime::RunOptions& options);
  const std::vector<SegmentRun>& runs() const { return runs_; }

 private:
  void add(const runtime::Step& step, double us);

  const runtime::Program& program_;
  std::vector<SegmentRun> runs_;
  size_t copies_ = 0;  ///< of the current step
  uint64_t copied_bytes_ = 0;
};

}  // namespace tenon::cli
