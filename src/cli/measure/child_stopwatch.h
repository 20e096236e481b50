// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/measure/stopwatch.h"

namespace tenon::cli {

/// Times engines by `tenon stopwatch`, in a process of its own, which is started again behind an engine that ends it, or of which nothing
/// is heard for a while.
class ChildStopwatch final : public compiler::Stopwatch {
 public:
  /// words: what stands behind the engines on its command line (--threads, --backend-lib).
  explicit ChildStopwatch(std::vector<std::string> words) : words_(std::move(words)) {}
  /// Errors: internal where no process can be started.
  Result<std::vector<std::optional<double>>> time(std::span<const std::filesystem::path> engines) override;

 private:
  std::vector<std::string> words_;
};

/// Measures in processes, engines in a folder of its own; `times` is where what was measured is kept. Errors: write_failed.
Result<std::shared_ptr<const compiler::Measuring>> measuring_in_children(std::vector<std::string> words, std::filesystem::path times);

}  // namespace tenon::cli
