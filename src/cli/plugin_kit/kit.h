// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/console/console.h"

namespace tenon::cli {

/// A violation that a check found.
struct KitFinding {
  std::string sample, what;
};

/// One check of one op.
struct KitRow {
  std::string op, check, docs;
  std::string not_tried;  ///< the reason why the check does not apply; empty: it ran
  std::vector<KitFinding> findings;
};

/// The results of test_plugins().
struct KitReport {
  std::vector<KitRow> rows;
  size_t findings = 0;
};

/// Tests the ops of a library, each check in a child process. A check that crashes or exceeds `timeout` (see run_forked) is a finding. Only
/// while this process has one thread. op: "Name" or "namespace::Name"; empty: all. Errors: those of compiler::load_plugins; bad_usage for
/// an op that the library lacks.
Result<KitReport> test_plugins(const std::filesystem::path& library, const std::string& op, std::chrono::seconds timeout, Console& console);
/// Prints the table, then the findings; with --json the same as an object. Errors: device_failed where there is a finding.
Result<void> report(const KitReport& report, const std::filesystem::path& library, Console& console);

}  // namespace tenon::cli
