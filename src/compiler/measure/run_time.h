// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/load.h"

namespace tenon::compiler {

/// Nanoseconds of a run of an engine file on drawn inputs: the median of at least five, after one that does not count; no more than it
/// takes to fill a tenth of a second. options.threads: of a run too. Errors: those of load() and of a run.
Result<double> run_time(const std::filesystem::path& engine, const LoadOptions& options);

/// Runs an engine file once, on the same inputs, and writes results_file(engine). Errors: those of load() and of a run; write_failed.
Result<void> keep_results(const std::filesystem::path& engine, const LoadOptions& options);

}  // namespace tenon::compiler
