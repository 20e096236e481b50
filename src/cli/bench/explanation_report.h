// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "cli/bench/explanation.h"

namespace tenon::cli {

class Console;

/// The machine description that predictions use, and its origin.
struct CurrentMachine {
  codegen::Machine machine;
  bool measured = false;  ///< by `tenon calibrate`, for this number of threads; else default values
};
/// The description of this machine for that number of threads. Errors: those of target_for.
Result<CurrentMachine> current_machine(int threads);

/// Prints the table of `bench --explain`, and returns the same as JSON.
nlohmann::ordered_json report_explanation(const std::vector<ExplainedKernel>& kernels, const CurrentMachine& here, Console& console);

}  // namespace tenon::cli
