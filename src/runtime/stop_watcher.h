// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <thread>

#include "runtime/run_options.h"

namespace tenon::runtime {

/// While it lives, a thread checks about every millisecond whether a stop of the run is requested, and then calls `end` once. For code of
/// external libraries, which does not check itself. There is no thread where the run has neither a token nor a deadline.
class StopWatcher {
 public:
  /// options: outlive it. end: called on another thread.
  StopWatcher(const RunOptions& options, std::function<void()> end);

 private:
  std::jthread thread_;
};

}  // namespace tenon::runtime
