// SPDX-License-Identifier: Apache-2.0
#include "base/threads/queued_lock.h"

#include <chrono>
#include <utility>

namespace tenon::inline base {

Result<void> QueuedLock::lock(const GoOn* go_on) {
  std::unique_lock guard(mutex_);
  if (!std::exchange(held_, true)) return {};
  Place place;
  (first_ == nullptr ? first_ : last_->next) = &place;
  last_ = &place;
  return wait(place, go_on, guard);
}

Result<void> QueuedLock::wait(Place& place, const GoOn* go_on, std::unique_lock<std::mutex>& guard) {
  const auto granted = [&] { return place.granted; };
  if (go_on == nullptr) {
    granted_.wait(guard, granted);
    return {};
  }
  while (!granted_.wait_for(guard, std::chrono::milliseconds(1), granted)) {
    if (auto asked = (*go_on)(); !asked) {
      leave(place);
      return asked;
    }
  }
  return {};
}

void QueuedLock::leave(const Place& place) {
  Place* before = nullptr;
  for (Place* p = first_; p != &place; p = p->next) before = p;
  (before == nullptr ? first_ : before->next) = place.next;
  if (last_ == &place) last_ = before;
}

void QueuedLock::unlock() {
  const std::lock_guard guard(mutex_);
  if (first_ == nullptr) {
    held_ = false;
    return;
  }
  first_->granted = true;  // held_ stays: the lock goes from hand to hand
  first_ = first_->next;
  if (first_ == nullptr) last_ = nullptr;
  granted_.notify_all();
}

}  // namespace tenon::inline base
