// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "compiler/compile.h"

namespace tenon::compiler {

/// Measures the time of each step of a build, and reports progress.
class StepClock {
 public:
  explicit StepClock(const CompileOptions& options) : options_(options) {}
  /// Ends the current step, and begins one of that name.
  void begin(std::string name);
  /// Ends the last step. Returns the times of all.
  std::vector<StepTime> end();

 private:
  void end_step();

  const CompileOptions& options_;
  std::string name_;  ///< of the current step
  std::chrono::steady_clock::time_point start_;
  std::vector<StepTime> times_;
};

/// A fallback of an entry after partitioning, and its compile options.
struct PartitionedFallback {
  runtime::Condition condition = runtime::Condition::none;
  PartitionedGraph partitioned;
  CompileOptions options;
};

/// An entry of an engine and its fallbacks, after partitioning.
struct PartitionedEntry {
  std::string name = "main";
  PartitionedGraph partitioned = {};
  std::vector<PartitionedFallback> fallbacks = {};
};

/// Plans, lowers, links and generates code for entries and their fallbacks; their graphs are consumed. Where a backend fails to compile a
/// segment, the graph is partitioned again without it. The fallbacks of a portable engine are compiled where it is loaded. Errors: those
/// of compile().
Result<Compiled> build_partitioned(std::vector<PartitionedEntry> entries, const CompileOptions& options, StepClock& clock);
/// The same for one entry without fallbacks.
Result<Compiled> build_partitioned(PartitionedGraph entry, const CompileOptions& options, StepClock& clock);

}  // namespace tenon::compiler
