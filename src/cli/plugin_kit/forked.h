// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tenon::cli {

/// What a child process said, and how it ended.
struct ChildOutcome {
  std::vector<std::string> lines;
  std::string ended;  ///< "crashed (signal 11: ...)", "ended the process (exit code 3)", "did not come back within 20 s of computing";
                      ///< empty: it came back
};

/// Runs `work` in a forked child, which has what this process has now; only while this process has one thread. work: is given what takes
/// its lines. What it prints on stdout goes to stderr. patience: seconds that the child may compute, and that it may do nothing at all: a
/// busy machine is not a fault. Errors: internal where there is no child.
Result<ChildOutcome> run_forked(const std::function<void(const std::function<void(std::string_view line)>& say)>& work,
                                std::chrono::seconds patience);

}  // namespace tenon::cli
