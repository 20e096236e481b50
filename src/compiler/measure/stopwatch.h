// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace tenon::compiler {

/// Times engines away from here: one that crashes or hangs takes nothing with it.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  /// Nanoseconds of a run of each engine file, on inputs of the sizes that runs take where nobody says any; none of one that does not run.
  /// Errors: where nothing can be timed at all.
  virtual Result<std::vector<std::optional<double>>> time(std::span<const std::filesystem::path> engines) = 0;
};

/// How `--measure` measures.
struct Measuring {
  std::shared_ptr<Stopwatch> stopwatch;
  std::filesystem::path folder;  ///< for engines while they are timed
  std::filesystem::path times;   ///< what was measured before (TimesFile); empty: nothing is kept
};

}  // namespace tenon::compiler
