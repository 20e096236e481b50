// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include "cli/bench/explanation.h"

namespace tenon::cli {

class Console;

/// What predictions on this machine go by.
struct MachineHere {
  codegen::Machine machine;
  bool measured = false;  ///< by `tenon calibrate`, on as many threads
};
/// Errors: those of target_for.
Result<MachineHere> machine_here(int threads);

/// The table of `bench --explain`, and the same as data.
nlohmann::ordered_json report_explanation(const std::vector<ExplainedKernel>& kernels, const MachineHere& here, Console& console);

}  // namespace tenon::cli
