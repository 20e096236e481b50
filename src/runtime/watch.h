// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <thread>

#include "runtime/run_options.h"

namespace tenon::runtime {

/// In its scope, checks about every millisecond whether a stop of the run is requested, and then calls `end` once: for code of other
/// libraries, which cannot check. Costs a thread where the run has a token or a deadline, else nothing.
class Watch {
 public:
  /// options: outlive it. end: called on another thread.
  Watch(const RunOptions& options, std::function<void()> end);

 private:
  std::jthread thread_;
};

}  // namespace tenon::runtime
