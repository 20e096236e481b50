// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.h"
#include "runtime/run_options.h"

namespace tenon::runtime {

/// Why a run stops.
enum class Stop : uint8_t { none, cancelled, deadline };

/// Whether the run has a token or a deadline, so that it may be stopped.
inline bool may_be_stopped(const RunOptions& options) {
  return options.token != nullptr || options.deadline != std::chrono::steady_clock::time_point::max();
}
/// The reason to stop the run now: its token is set, or its deadline has passed. none: it may go on.
Stop requested_stop(const RunOptions& options);
/// The error of a stopped run, at `place`; none for Stop::none. Errors: cancelled, deadline.
Result<void> check_not_stopped(Stop stop, const std::string& place);

}  // namespace tenon::runtime
