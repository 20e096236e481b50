// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>

#include "base/result.h"

namespace tenon::cli {

/// Runs `rest` in a forked child process. A crash there, or a call of a backend that takes longer than `timeout`, becomes an error that
/// names the backend or plugin. Only while this process has one thread. Returns the child's exit code.
/// Errors: device_failed where code of a backend or plugin crashed or timed out; internal where other code crashed, or the fork failed.
Result<int> run_isolated(const std::function<int()>& rest, std::chrono::seconds timeout);

}  // namespace tenon::cli
