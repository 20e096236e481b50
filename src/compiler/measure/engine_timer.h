// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "compiler/compile.h"
#include "compiler/measure/engine_runner.h"
#include "compiler/measure/timing_cache.h"

namespace tenon::compiler {

/// Builds engines, times them with the runner of the measure options, and stores the times in the timing cache.
class EngineTimer {
 public:
  /// An engine to time.
  struct Item {
    std::string key_text;  ///< describes completely what is timed: items with equal texts are timed once
    std::function<Result<Compiled>()> build;
  };
  /// options: of the builds; they must outlive the timer.
  EngineTimer(const CompileOptions& options, const backend::Backends& backends);
  /// Whether the timing cache has its time.
  bool has_time_of(const Item& item) const { return times_.find(key_of(item)).has_value(); }
  /// Nanoseconds of one run of each item; nullopt for an item that does not build or run. All items are timed `passes` times, one after the
  /// other, and the minimum of each is returned. Errors: those of EngineRunner::time; write_failed.
  Result<std::vector<std::optional<double>>> time(std::span<const Item> items, int passes = 1);

 private:
  struct Engine {
    std::filesystem::path file;
    size_t item = 0;
  };
  Hash128 key_of(const Item& item) const;
  /// Times all engines once and lowers the minimum times `least` of their items. Engines that fail to run are removed from `engines`: an
  /// engine that crashes or hangs is not tried again.
  Result<void> pass(std::vector<Engine>& engines, std::span<std::optional<double>> least);
  Result<std::vector<std::optional<double>>> run(std::span<const Item* const> items, int passes);

  const CompileOptions& options_;
  TimingCache times_;
  std::string environment_;  ///< build, CPU, threads, options and libraries, which times depend on too
};

}  // namespace tenon::compiler
