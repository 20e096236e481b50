// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

namespace tenon::cli {

/// Reads them, in the widest registers that this CPU has. count: a multiple of 128.
float sum_of(const float* from, int64_t count);

/// Reads through 256 MiB, which is more than caches hold, on the threads that kernels run on: measures what memory gives, and leaves
/// nothing of a model in the caches.
class MemoryStream {
 public:
  explicit MemoryStream(int threads);
  /// One pass. Returns GB/s.
  double read() const;

 private:
  int threads_;
  std::unique_ptr<float[]> bytes_;
};

/// Each thread reads so many bytes of its own again and again: what a cache gives that holds them.
class CacheStream {
 public:
  CacheStream(int threads, int64_t bytes_of_each);
  /// GB/s of all together, for some milliseconds.
  double read() const;

 private:
  int threads_;
  int64_t floats_;  ///< of each
  std::unique_ptr<float[]> bytes_;
};

}  // namespace tenon::cli
