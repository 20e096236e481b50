// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/compare/judge_outputs.h"

namespace tenon::cli {

/// What the table and the fields of --json say of results.
struct OutputReport {
  std::string with;        ///< the other engine, or "reference"
  bool has_steps = false;  ///< the runs follow each other: which step an output is of is said
};

/// Prints a row for each result. Returns the same as fields.
nlohmann::ordered_json report_outputs(const std::vector<OutputDistance>& outputs, const OutputReport& options, Console& console);

/// "output 'y'", "output 'y' of step 3", "state 'past_key'".
std::string place_of(const OutputDistance& output, bool has_steps);

}  // namespace tenon::cli
