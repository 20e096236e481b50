// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/control_block.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "base/threads/thread_pool.h"

namespace tenon::plugin::worker {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kSpin = 50us;

long futex(void* word, int operation, uint32_t value, const timespec* time) {
  return syscall(SYS_futex, word, operation, value, time, nullptr, 0);
}

/// Whether looking again can help: another CPU has to be there to change it.
bool may_spin() {
  static const bool out = usable_cpus() > 1;
  return out;
}

}  // namespace

static_assert(sizeof(std::atomic<LaneOwner>) == sizeof(uint32_t) && std::atomic<LaneOwner>::is_always_lock_free);

void hand_over(std::atomic<LaneOwner>& owner, LaneOwner to, Waiter& waiter) {
  owner.store(to);
  if (waiter.sleeps.exchange(0)) futex(&owner, FUTEX_WAKE, INT_MAX, nullptr);
}

bool await_owner(std::atomic<LaneOwner>& owner, LaneOwner wanted, Waiter& waiter, std::chrono::microseconds timeout) {
  const auto start = Clock::now();
  while (may_spin() && Clock::now() - start < kSpin)
    for (int k = 0; k < 32; ++k) {
      if (owner.load(std::memory_order_acquire) == wanted) return true;
      _mm_pause();
    }
  for (auto left = timeout; left > 0us; left = timeout - std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start)) {
    waiter.sleeps.store(1);
    const LaneOwner now = owner.load();
    if (now == wanted) break;
    const timespec time{.tv_sec = left.count() / 1'000'000, .tv_nsec = left.count() % 1'000'000 * 1000};
    futex(&owner, FUTEX_WAIT, static_cast<uint32_t>(now), &time);
  }
  waiter.sleeps.store(0);
  return owner.load() == wanted;
}

void sleep_on(std::atomic<uint32_t>& word, uint32_t known) { futex(&word, FUTEX_WAIT, known, nullptr); }
void wake_all(std::atomic<uint32_t>& word) { futex(&word, FUTEX_WAKE, INT_MAX, nullptr); }

}  // namespace tenon::plugin::worker
