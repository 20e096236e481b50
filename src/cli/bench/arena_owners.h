// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace tenon::cli {

/// Which thread's core wrote each page of the arena last.
class ArenaOwners {
 public:
  explicit ArenaOwners(uint64_t bytes);

  /// Of what so many threads touch there, the share that another thread wrote. in_order: each has a part of its own, one after the other;
  /// else they touch it here and there.
  double foreign(uint64_t offset, double bytes, int threads, bool in_order) const;
  /// They write it.
  void take(uint64_t offset, double bytes, int threads, bool in_order);

 private:
  /// Owners are numbers of threads, or -n: several of a thread pool of n.
  static constexpr int kNobody = 1 << 20;
  struct Pages {
    size_t begin = 0, end = 0;
  };
  Pages pages_of(uint64_t offset, double bytes) const;
  /// Who touches page `k` of `count`.
  static int toucher(size_t k, size_t count, int threads, bool in_order);

  std::vector<int> owners_;
};

}  // namespace tenon::cli
