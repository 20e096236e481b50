// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/load.h"

namespace tenon::compiler {

/// Nanoseconds of a run of an engine file on random inputs: the median of 5 to 1000 runs, as many as fit in 0.1 s, after one warm-up run.
/// options.threads: also the threads of the runs. Errors: those of load() and of a run.
Result<double> measure_run_ns(const std::filesystem::path& engine, const LoadOptions& options);

/// Runs an engine file once, on the same random inputs, and writes its results to results_file(engine). Errors: those of load() and of a
/// run; write_failed.
Result<void> write_results(const std::filesystem::path& engine, const LoadOptions& options);

}  // namespace tenon::compiler
