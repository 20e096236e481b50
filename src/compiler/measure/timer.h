// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "compiler/compile.h"
#include "compiler/measure/stopwatch.h"
#include "compiler/measure/times_file.h"

namespace tenon::compiler {

/// Builds engines, has them timed, and remembers the times.
class Timer {
 public:
  struct Item {
    std::string of;  ///< what is timed, whole: equal texts are timed once
    std::function<Result<Compiled>()> build;
  };
  /// options: of the builds; outlive it.
  Timer(const CompileOptions& options, const backend::Backends& backends);
  /// Whether it was timed before.
  bool has_time_of(const Item& item) const { return times_.find(key_of(item)).has_value(); }
  /// Nanoseconds of a run of each; none of one that does not build or run. `passes`: all are timed that often, in turn, and the least time
  /// counts. Errors: those of Stopwatch::time; write_failed.
  Result<std::vector<std::optional<double>>> time(std::span<const Item> items, int passes = 1);

 private:
  struct Engine {
    std::filesystem::path file;
    size_t item = 0;
  };
  Hash128 key_of(const Item& item) const;
  /// The least times of items so far; engines that did not run are removed: an engine that crashes or hangs is not tried again.
  Result<void> pass(std::vector<Engine>& engines, std::span<std::optional<double>> least);
  Result<std::vector<std::optional<double>>> run(std::span<const Item* const> items, int passes);

  const CompileOptions& options_;
  TimesFile times_;
  std::string here_;  ///< what times depend on besides what is timed
};

}  // namespace tenon::compiler
