// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <thread>

#include "runtime/run_options.h"

namespace tenon::runtime {

/// While it lives, checks about every millisecond whether a stop is requested, and calls `end` once where it is: for what runs
/// elsewhere and cannot check itself. Costs a thread where a stop can be requested at all, else nothing.
class Watch {
 public:
  /// options: outlive it. end: called on another thread.
  Watch(const RunOptions& options, std::function<void()> end);

 private:
  std::jthread thread_;
};

}  // namespace tenon::runtime
