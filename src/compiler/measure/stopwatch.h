// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace tenon::compiler {

/// Runs engines away from here: one that crashes or hangs takes nothing with it.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  /// Nanoseconds of a run of each engine file, on inputs of the sizes that runs take where nobody says any; none of one that does not run.
  /// Errors: where nothing can be timed at all.
  virtual Result<std::vector<std::optional<double>>> time(std::span<const std::filesystem::path> engines) = 0;
  /// Runs each once, on the same inputs, and keeps what it gives in results_file(engine). Of each why it did not run; empty: it did.
  /// Errors: where nothing can be run at all.
  virtual Result<std::vector<std::string>> run(std::span<const std::filesystem::path> engines) {
    return std::vector<std::string>(engines.size(), "this stopwatch keeps no results");
  }
};

/// The results of a run of an engine, in their order: "0", "1", ... (files::read_npz).
inline std::filesystem::path results_file(std::filesystem::path engine) { return engine += ".npz"; }

/// How `--measure` measures.
struct Measuring {
  std::shared_ptr<Stopwatch> stopwatch;
  std::filesystem::path folder;  ///< for engines while they are timed
  std::filesystem::path times;   ///< what was measured before (TimesFile); empty: nothing is kept
};

}  // namespace tenon::compiler
