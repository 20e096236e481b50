// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/measure/cache_path.h"
#include "compiler/measure/stopwatch.h"
#include "runtime/libraries.h"

namespace tenon::compiler {

struct CompileOptions;

/// Times engines by a program that is started for it, `tenon stopwatch` or what does the same: it says "ready", then a line an engine. It
/// is started again after an engine that ends it, or that prints nothing for a while.
class ChildStopwatch final : public Stopwatch {
 public:
  /// program: found as a shell finds it, and its first arguments; options: arguments after the engines.
  ChildStopwatch(std::vector<std::string> program, std::vector<std::string> options)
      : program_(std::move(program)), options_(std::move(options)) {}
  /// Errors: bad_usage where the program does not start, or is no stopwatch.
  Result<std::vector<std::optional<double>>> time(std::span<const std::filesystem::path> engines) override;
  Result<std::vector<std::string>> run(std::span<const std::filesystem::path> engines) override;

 private:
  /// What is said of each engine; none of one that ended the process, or of which nothing was heard.
  Result<std::vector<std::optional<std::string>>> lines(std::span<const std::filesystem::path> engines,
                                                        const std::vector<std::string>& options) const;
  std::vector<std::string> program_, options_;
};

/// Measures by that program, with the threads and the backends of `options` and those libraries, engines in a folder of its own; times are
/// kept in that file, if any. Errors: write_failed, bad_usage.
Result<std::shared_ptr<const Measuring>> measuring_in_children(std::vector<std::string> program, const CompileOptions& options,
                                                               const runtime::Libraries& libraries,
                                                               std::filesystem::path times = cache_path("times"));

}  // namespace tenon::compiler
