// SPDX-License-Identifier: Apache-2.0
#include "plugin/worker/exchange.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace tenon::plugin::worker {

std::string_view put_piece(Lane& lane, std::string_view message) {
  const size_t size = std::min(message.size(), Lane::kRoom);
  std::memcpy(lane.room.data(), message.data(), size);
  lane.size = static_cast<uint32_t>(size);
  lane.more = size < message.size() ? 1 : 0;
  return message.substr(size);
}

bool take_piece(const Lane& lane, std::string& message) {
  // Read once each: the other side may write anything here at any time.
  const uint32_t size = std::min<uint32_t>(__atomic_load_n(&lane.size, __ATOMIC_RELAXED), Lane::kRoom);
  const bool more = __atomic_load_n(&lane.more, __ATOMIC_RELAXED) != 0;
  message.append(lane.room.data(), size);
  return !more;
}

namespace {

/// What one lane wrote another one may read next: the host puts that in order, which a race detector that sees this process alone does not
/// know.
std::atomic<uint64_t> answered = 0;

void await_host(Lane& lane) {
  while (!await_owner(lane.owner, LaneOwner::requested, lane.worker, std::chrono::hours(1))) {}
  lane.owner.store(LaneOwner::worker);
}

}  // namespace

void receive(Lane& lane, std::string& message) {
  message.clear();
  while (true) {
    await_host(lane);
    if (take_piece(lane, message)) {
      (void)answered.load(std::memory_order_acquire);
      return;
    }
    put_piece(lane, {});
    hand_over(lane.owner, LaneOwner::host, lane.host);
  }
}

void send(Lane& lane, std::string_view message) {
  answered.fetch_add(1, std::memory_order_release);
  while (true) {
    message = put_piece(lane, message);
    hand_over(lane.owner, LaneOwner::host, lane.host);
    if (message.empty()) return;
    await_host(lane);
  }
}

}  // namespace tenon::plugin::worker
