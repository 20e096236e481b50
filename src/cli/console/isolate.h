// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>

#include "base/result.h"

namespace tenon::cli {

/// Runs the rest of the program in a child process: what crashes there, or hangs in a backend's code, ends that process, and this one says
/// whose code it was. `patience`: with one call of a backend. Only while this process has one thread. Returns the child's exit code.
/// Errors: device_failed where a backend's code did not come back; internal where other code crashed, or there is no child.
Result<int> run_isolated(const std::function<int()>& rest, std::chrono::seconds patience);

}  // namespace tenon::cli
