// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

namespace tenon::cli {

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

}  // namespace tenon::cli
