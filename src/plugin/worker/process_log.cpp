// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "plugin/worker/process.h"

namespace tenon::plugin::worker {

namespace {

struct Record {
  int32_t severity;
  uint32_t size;
};
constexpr uint32_t kMostText = 16 << 20;

}  // namespace

/// Whoever finds another at it leaves it to that one.
void Process::pass_on_log() {
  LogStream& log = control().log;
  if (log.written.load(std::memory_order_acquire) == log.read.load(std::memory_order_relaxed)) return;
  const std::unique_lock held(log_lock_, std::try_to_lock);
  if (!held) return;
  const uint64_t from = log.read, to = log.written;
  if (to - from > LogStream::kRoom) return;  // it wrote over its own memory
  for (uint64_t at = from; at < to;) {
    const uint64_t start = at % LogStream::kRoom, count = std::min(to - at, LogStream::kRoom - start);
    unread_.append(log.room.data() + start, count);
    at += count;
  }
  log.read.store(to, std::memory_order_release);
  Record record{};
  while (unread_.size() >= sizeof record) {
    std::memcpy(&record, unread_.data(), sizeof record);
    if (record.size > kMostText) unread_.clear();
    if (unread_.size() < sizeof record + record.size) return;
    const std::string text = unread_.substr(sizeof record, record.size);
    unread_.erase(0, sizeof record + record.size);
    log_->log(log_, record.severity, text.c_str());
  }
}

}  // namespace tenon::plugin::worker
