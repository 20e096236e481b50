// SPDX-License-Identifier: Apache-2.0
#include "cli/plugin_kit/guarded.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::cli {

namespace {

constexpr size_t kGuard = 4096, kAlignment = 64;

}  // namespace

GuardedBuffer::GuardedBuffer(size_t bytes, uint8_t value) : memory_(bytes + 2 * kGuard + kAlignment), size_(bytes) {
  const auto address = reinterpret_cast<uintptr_t>(memory_.data()) + kGuard;
  begin_ = kGuard + (kAlignment - address % kAlignment) % kAlignment;
  for (size_t k = 0; k < memory_.size(); ++k) memory_[k] = pattern(k);
  fill(value);
}

void GuardedBuffer::fill(uint8_t value) { std::fill_n(data(), size_, static_cast<std::byte>(value)); }

std::string GuardedBuffer::damage() const {
  size_t before = 0, after = 0;
  for (size_t k = 0; k < memory_.size(); ++k) {
    if (k >= begin_ && k < begin_ + size_) continue;
    if (memory_[k] != pattern(k)) ++(k < begin_ ? before : after);
  }
  if (before > 0) return fmt::format("writes {} bytes before it", before);
  return after > 0 ? fmt::format("writes {} bytes past its end", after) : "";
}

}  // namespace tenon::cli
