// SPDX-License-Identifier: Apache-2.0
#include "base/shared_memory.h"

#include <atomic>
#include <map>
#include <mutex>

namespace tenon::inline base {

namespace {

struct Block {
  uint64_t bytes;
  SharedMemory::Place place;
};

/// Never destroyed: contexts may outlive main.
struct All {
  std::mutex lock;
  std::map<const std::byte*, Block> blocks;
  uint64_t last = 0;
};

All& all() {
  static All& out = *new All;
  return out;
}

}  // namespace

SharedMemory::SharedMemory(const std::byte* begin, uint64_t bytes, int file, uint64_t offset) : begin_(begin) {
  const std::lock_guard held(all().lock);
  all().blocks[begin] = {bytes, {.block = ++all().last, .file = file, .offset = offset}};
}

SharedMemory::~SharedMemory() {
  const std::lock_guard held(all().lock);
  all().blocks.erase(begin_);
}

std::optional<SharedMemory::Place> SharedMemory::find(const void* begin, uint64_t bytes) {
  const auto* const at = static_cast<const std::byte*>(begin);
  const std::lock_guard held(all().lock);
  auto found = all().blocks.upper_bound(at);
  if (found == all().blocks.begin()) return std::nullopt;
  --found;
  const auto within = static_cast<uint64_t>(at - found->first);
  if (within > found->second.bytes || bytes > found->second.bytes - within) return std::nullopt;
  Place out = found->second.place;
  out.offset += within;
  return out;
}

}  // namespace tenon::inline base
