// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/compare/judge_outputs.h"

namespace tenon::cli {

/// Options of the report.
struct OutputReport {
  std::string with;        ///< the other engine, or "reference"
  bool has_steps = false;  ///< there are several runs; the report states the step of each output
};

/// Prints a row for each result, and returns the same as JSON.
nlohmann::ordered_json report_outputs(const std::vector<OutputDistance>& outputs, const OutputReport& options, Console& console);

/// "output 'y'", "output 'y' of step 3", "state 'past_key'".
std::string place_of(const OutputDistance& output, bool has_steps);

}  // namespace tenon::cli
