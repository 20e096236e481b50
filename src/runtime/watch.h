// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <thread>

#include "runtime/run_options.h"

namespace tenon::runtime {

/// While it lives, looks about every millisecond whether the run is asked to stop, and calls `end` once where it is: for what runs
/// elsewhere and cannot look itself. Costs a thread where the run can be asked at all, else nothing.
class Watch {
 public:
  /// options: outlive it. end: called on another thread.
  Watch(const RunOptions& options, std::function<void()> end);

 private:
  std::jthread thread_;
};

}  // namespace tenon::runtime
