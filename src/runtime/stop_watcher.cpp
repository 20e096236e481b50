// SPDX-License-Identifier: Apache-2.0
#include "runtime/stop_watcher.h"

#include <condition_variable>
#include <mutex>

#include "runtime/stopping.h"

namespace tenon::runtime {

StopWatcher::StopWatcher(const RunOptions& options, std::function<void()> end) {
  if (!may_be_stopped(options)) return;
  thread_ = std::jthread([&options, end = std::move(end)](const std::stop_token& over) {
    std::mutex lock;
    std::unique_lock held(lock);
    std::condition_variable_any sleep;
    while (!over.stop_requested()) {
      if (requested_stop(options) != Stop::none) return end();
      sleep.wait_for(held, over, std::chrono::milliseconds(1), [] { return false; });
    }
  });
}

}  // namespace tenon::runtime
