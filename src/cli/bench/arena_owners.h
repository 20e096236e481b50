// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace tenon::cli {

/// Records which thread last wrote each page of the arena, to estimate which bytes are in another core's cache.
class ArenaOwners {
 public:
  explicit ArenaOwners(uint64_t bytes);

  /// Of the bytes that `threads` threads access at `offset`, the fraction that another thread wrote last. in_order: thread k accesses the
  /// k-th of equal contiguous parts; else accesses are spread over all bytes.
  double share_of_other_threads(uint64_t offset, double bytes, int threads, bool in_order) const;
  /// Records that these threads write the bytes.
  void record_writes(uint64_t offset, double bytes, int threads, bool in_order);

 private:
  /// Owners are numbers of threads, or -n: several of a thread pool of n.
  static constexpr int kNotWritten = 1 << 20;  ///< no thread has written the page
  struct Pages {
    size_t begin = 0, end = 0;
  };
  Pages pages_of(uint64_t offset, double bytes) const;
  /// The thread that accesses page `k` of `count`.
  static int accessing_thread(size_t k, size_t count, int threads, bool in_order);

  std::vector<int> owners_;
};

}  // namespace tenon::cli
