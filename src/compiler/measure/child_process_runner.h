// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/measure/cache_path.h"
#include "compiler/measure/engine_runner.h"
#include "runtime/libraries.h"

namespace tenon::compiler {

struct CompileOptions;

/// Runs engines in a child process: `tenon time`, or a program with the same protocol, which prints "ready" and then one line per
/// engine. The program is started again after an engine that ends the process or exceeds the timeout.
class ChildProcessRunner final : public EngineRunner {
 public:
  /// program: its name (looked up in PATH) and first arguments; options: arguments after the engines.
  ChildProcessRunner(std::vector<std::string> program, std::vector<std::string> options)
      : program_(std::move(program)), options_(std::move(options)) {}
  /// Errors: bad_usage where the program does not start, or does not print "ready".
  Result<std::vector<std::optional<double>>> time(std::span<const std::filesystem::path> engines) override;
  Result<std::vector<std::string>> run(std::span<const std::filesystem::path> engines) override;

 private:
  /// The line that the program prints for each engine; nullopt for an engine that ended the process or exceeded the timeout.
  Result<std::vector<std::optional<std::string>>> output_lines(std::span<const std::filesystem::path> engines,
                                                               const std::vector<std::string>& options) const;
  std::vector<std::string> program_, options_;
};

/// Options to measure with `program` as the child process, with the threads and backends of `options` and with `libraries`. Engines are
/// written to a scratch folder that the result owns; `times` is the file of the timing cache (empty: none). Errors: write_failed,
/// bad_usage.
Result<std::shared_ptr<const MeasureOptions>> child_process_measure_options(std::vector<std::string> program, const CompileOptions& options,
                                                                            const runtime::Libraries& libraries,
                                                                            std::filesystem::path times = cache_path("times"));

}  // namespace tenon::compiler
