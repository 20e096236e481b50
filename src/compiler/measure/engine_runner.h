// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace tenon::compiler {

/// Runs engine files outside of this process, so that an engine that crashes or hangs does not end it.
class EngineRunner {
 public:
  virtual ~EngineRunner() = default;
  /// Nanoseconds of one run of each engine file, on inputs of default sizes; nullopt for an engine that fails to run. Errors: where no
  /// engine can be run.
  virtual Result<std::vector<std::optional<double>>> time(std::span<const std::filesystem::path> engines) = 0;
  /// Runs each engine once, on the same inputs, and writes its results to results_file(engine). Returns why each failed to run; empty: it
  /// ran. Errors: where no engine can be run.
  virtual Result<std::vector<std::string>> run(std::span<const std::filesystem::path> engines) {
    return std::vector<std::string>(engines.size(), "this runner does not write results");
  }
};

/// The npz file with the results of an engine, named "0", "1", ... in their order (files::read_npz).
inline std::filesystem::path results_file(std::filesystem::path engine) { return engine += ".npz"; }

/// How compilation with `--measure` runs engines.
struct MeasureOptions {
  std::shared_ptr<EngineRunner> runner;
  std::filesystem::path folder;  ///< for engine files while they are timed
  std::filesystem::path times;   ///< the file of the timing cache (TimingCache); empty: times are not stored
};

}  // namespace tenon::compiler
