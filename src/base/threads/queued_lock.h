// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <condition_variable>
#include <mutex>

#include "base/function_ref.h"
#include "base/result.h"

namespace tenon::inline base {

/// A lock that is granted in the order in which it was requested: a caller that releases it and locks again queues behind those who wait.
/// Never allocates.
class QueuedLock {
 public:
  using GoOn = FunctionRef<Result<void>()>;
  /// `go_on` is called about every millisecond of waiting; its error ends the waiting and is returned. Null: waits however long.
  Result<void> lock(const GoOn* go_on);
  void unlock();

 private:
  struct Place {
    Place* next = nullptr;
    bool granted = false;
  };
  Result<void> wait(Place& place, const GoOn* go_on, std::unique_lock<std::mutex>& guard);
  void leave(const Place& place);

  std::mutex mutex_;
  std::condition_variable granted_;
  bool held_ = false;
  Place* first_ = nullptr;  ///< of those who wait; they lie on the stacks of their threads
  Place* last_ = nullptr;
};

}  // namespace tenon::inline base
