// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace tenon::cli {

/// Records which thread last wrote each page of the arena, to estimate which bytes are in another core's cache.
class ArenaOwners {
 public:
  explicit ArenaOwners(uint64_t bytes);

  /// The share of the bytes that `threads` threads access at `offset` and that another thread wrote. in_order: thread k accesses the k-th
  /// of equal contiguous parts; else accesses are spread over all bytes.
  double foreign(uint64_t offset, double bytes, int threads, bool in_order) const;
  /// Records that these threads write the bytes.
  void take(uint64_t offset, double bytes, int threads, bool in_order);

 private:
  /// Owners are numbers of threads, or -n: several of a thread pool of n.
  static constexpr int kNobody = 1 << 20;
  struct Pages {
    size_t begin = 0, end = 0;
  };
  Pages pages_of(uint64_t offset, double bytes) const;
  /// The thread that accesses page `k` of `count`.
  static int toucher(size_t k, size_t count, int threads, bool in_order);

  std::vector<int> owners_;
};

}  // namespace tenon::cli
