// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/arena_owners.h"

#include <algorithm>

namespace tenon::cli {

static constexpr uint64_t kPage = 4096;

ArenaOwners::ArenaOwners(uint64_t bytes) : owners_(bytes / kPage + 1, kNotWritten) {}

ArenaOwners::Pages ArenaOwners::pages_of(uint64_t offset, double bytes) const {
  const size_t begin = std::min<size_t>(offset / kPage, owners_.size() - 1);
  const auto count = static_cast<size_t>((bytes + kPage - 1) / kPage);
  return {begin, std::clamp(begin + count, begin + 1, owners_.size())};
}

int ArenaOwners::accessing_thread(size_t k, size_t count, int threads, bool in_order) {
  return in_order || threads == 1 ? static_cast<int>(k * static_cast<size_t>(threads) / count) : -threads;
}

double ArenaOwners::share_of_other_threads(uint64_t offset, double bytes, int threads, bool in_order) const {
  const Pages pages = pages_of(offset, bytes);
  const size_t count = pages.end - pages.begin;
  double out = 0;
  for (size_t k = 0; k < count; ++k) {
    const int owner = owners_[pages.begin + k], here = accessing_thread(k, count, threads, in_order);
    if (owner == kNotWritten) continue;
    if (owner >= 0 && here >= 0) out += owner != here ? 1 : 0;
    else out += 1 - 1.0 / std::max({-owner, -here, 1});
  }
  return out / static_cast<double>(count);
}

void ArenaOwners::record_writes(uint64_t offset, double bytes, int threads, bool in_order) {
  const Pages pages = pages_of(offset, bytes);
  for (size_t k = pages.begin; k < pages.end; ++k)
    owners_[k] = accessing_thread(k - pages.begin, pages.end - pages.begin, threads, in_order);
}

}  // namespace tenon::cli
