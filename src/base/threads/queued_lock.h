// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <condition_variable>
#include <mutex>

#include "base/function_ref.h"
#include "base/result.h"

namespace tenon::inline base {

/// A fair mutex: it is granted in the order of requests, so that a thread that releases it and locks it again waits for those before it.
/// Never allocates.
class QueuedLock {
 public:
  using WaitCheck = FunctionRef<Result<void>()>;
  /// check: called about every millisecond while the caller waits; its error ends the waiting and is returned. Null: waits without limit.
  Result<void> lock(const WaitCheck* check);
  void unlock();

 private:
  /// A waiting thread's entry in the queue, on that thread's stack.
  struct Waiter {
    Waiter* next = nullptr;
    bool granted = false;
  };
  Result<void> wait(Waiter& waiter, const WaitCheck* check, std::unique_lock<std::mutex>& guard);
  void leave(const Waiter& waiter);

  std::mutex mutex_;
  std::condition_variable granted_;
  bool held_ = false;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

}  // namespace tenon::inline base
