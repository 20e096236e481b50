// SPDX-License-Identifier: Apache-2.0
#include "base/threads/queued_lock.h"

#include <chrono>
#include <utility>

namespace tenon::inline base {

Result<void> QueuedLock::lock(const WaitCheck* check) {
  std::unique_lock guard(mutex_);
  if (!std::exchange(held_, true)) return {};
  Waiter waiter;
  (first_ == nullptr ? first_ : last_->next) = &waiter;
  last_ = &waiter;
  return wait(waiter, check, guard);
}

Result<void> QueuedLock::wait(Waiter& waiter, const WaitCheck* check, std::unique_lock<std::mutex>& guard) {
  const auto granted = [&] { return waiter.granted; };
  if (check == nullptr) {
    granted_.wait(guard, granted);
    return {};
  }
  while (!granted_.wait_for(guard, std::chrono::milliseconds(1), granted)) {
    if (auto checked = (*check)(); !checked) {
      leave(waiter);
      return checked;
    }
  }
  return {};
}

void QueuedLock::leave(const Waiter& waiter) {
  Waiter* before = nullptr;
  for (Waiter* p = first_; p != &waiter; p = p->next) before = p;
  (before == nullptr ? first_ : before->next) = waiter.next;
  if (last_ == &waiter) last_ = before;
}

void QueuedLock::unlock() {
  const std::lock_guard guard(mutex_);
  if (first_ == nullptr) {
    held_ = false;
    return;
  }
  first_->granted = true;  // held_ stays true: the lock passes to the next waiter
  first_ = first_->next;
  if (first_ == nullptr) last_ = nullptr;
  granted_.notify_all();
}

}  // namespace tenon::inline base
