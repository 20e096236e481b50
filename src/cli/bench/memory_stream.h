// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

namespace tenon::cli {

/// The sum of the floats, read with the widest registers of this CPU. count: a multiple of 128.
float sum_of(const float* from, int64_t count);

/// Reads 256 MiB, which is more than caches hold, on the threads that kernels run on: measures the memory bandwidth, and evicts all data of
/// a model from the caches.
class MemoryStream {
 public:
  explicit MemoryStream(int threads);
  /// One pass. Returns GB/s.
  double read() const;

 private:
  int threads_;
  std::unique_ptr<float[]> bytes_;
};

/// Each thread repeatedly reads its own buffer: measures the bandwidth of a cache that holds the buffers.
class CacheStream {
 public:
  CacheStream(int threads, int64_t bytes_of_each);
  /// GB/s of all threads together. Takes some milliseconds.
  double read() const;

 private:
  int threads_;
  int64_t floats_;  ///< of each
  std::unique_ptr<float[]> bytes_;
};

}  // namespace tenon::cli
