// SPDX-License-Identifier: Apache-2.0
#include "runtime/stopping.h"

namespace tenon::runtime {

Stop requested_stop(const RunOptions& options) {
  if (options.token && options.token->stop.load(std::memory_order_relaxed)) return Stop::cancelled;
  const auto never = std::chrono::steady_clock::time_point::max();
  if (options.deadline != never && std::chrono::steady_clock::now() > options.deadline) return Stop::deadline;
  return Stop::none;
}

Result<void> check_not_stopped(Stop stop, const std::string& place) {
  switch (stop) {
    case Stop::none: return {};
    case Stop::cancelled: return fail(Code::cancelled, place, "the run was cancelled").expected("no call of stop()").found("one");
    case Stop::deadline:
      return fail(Code::deadline, place, "the deadline has passed").expected("an end before the deadline").found("work that is left");
  }
  return {};
}

}  // namespace tenon::runtime
