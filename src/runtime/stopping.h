// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "base/result.h"
#include "runtime/run_options.h"

namespace tenon::runtime {

enum class Stop : uint8_t { none, cancelled, deadline };

/// Whether a stop of the run can be requested at all.
inline bool is_watched(const RunOptions& options) {
  return options.token != nullptr || options.deadline != std::chrono::steady_clock::time_point::max();
}
Stop asked_to_stop(const RunOptions& options);
/// Errors: cancelled, deadline.
Result<void> go_on(Stop stop, const std::string& place);

}  // namespace tenon::runtime
