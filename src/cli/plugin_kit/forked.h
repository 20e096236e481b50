// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::cli {

/// The output of a child process, and how it ended.
struct ChildOutcome {
  std::vector<std::string> lines;
  std::string ended;  ///< "crashed (signal 11: ...)", "ended the process (exit code 3)", "did not return within 20 s of computing",
                      ///< "did nothing for 20 s and did not return";
                      ///< empty: `work` returned
};

/// Runs `work` in a forked child process; only while this process has one thread. For `tenon plugin test`: an op of a plugin may crash,
/// exit or not return. `work` passes its lines of output to `say`; what it prints to stdout goes to stderr. timeout: limits both the CPU
/// time of the child and each stretch of time in which it uses no CPU, so that a loaded machine does not cause a timeout. Errors: internal
/// where the fork failed.
Result<ChildOutcome> run_forked(const std::function<void(const std::function<void(std::string_view line)>& say)>& work,
                                std::chrono::seconds timeout);

}  // namespace tenon::cli
