// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace tenon::runtime {

/// Bytes of known contents before and after what kernels write, and in what they have not written yet (RunOptions::check_memory). The bytes
/// are NaN in every floating type, and far outside any table as an index. What kernels may read beyond a buffer (kSlack) has canaries too.
/// Under AddressSanitizer, C++ code that touches a canary is stopped where it does.
class MemoryCanaries {
 public:
  static constexpr uint64_t kBytes = 512;  ///< on each side; a multiple of the buffers' alignment

  MemoryCanaries() = default;
  MemoryCanaries(const MemoryCanaries&) = delete;
  MemoryCanaries& operator=(const MemoryCanaries&) = delete;
  ~MemoryCanaries() { clear(); }

  /// Overwrites the bytes of a buffer and the kBytes before and after it. `id` is the caller's; one that is watched is replaced.
  void watch(uint64_t id, std::byte* data, uint64_t bytes, std::string name);
  bool watches(uint64_t id) const { return places_.contains(id); }
  /// No longer looked at; its contents are overwritten where `spoil`, so that a late reader does not find what it looks for.
  void forget(uint64_t id, bool spoil);
  void clear();
  /// All canaries hold what they did. Errors: internal, at `step`, naming the buffer.
  Result<void> check(const std::string& step) const;

 private:
  struct Place {
    std::byte* data;
    uint64_t bytes;
    std::string name;
  };
  static void close(const Place& place);
  static void open(const Place& place);
  std::map<uint64_t, Place> places_;
};

}  // namespace tenon::runtime
