// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace tenon::runtime {

/// Known bytes before and after each buffer that kernels write, and in the buffer until it is written (RunOptions::check_memory). The bytes
/// are NaN in every floating type, and far outside any table as an index. The slack that kernels may read beyond a buffer (kSlack) has
/// canaries too. Under AddressSanitizer, an access of C++ code to a canary is reported.
class MemoryCanaries {
 public:
  static constexpr uint64_t kBytes = 512;  ///< on each side; a multiple of the buffers' alignment

  MemoryCanaries() = default;
  MemoryCanaries(const MemoryCanaries&) = delete;
  MemoryCanaries& operator=(const MemoryCanaries&) = delete;
  ~MemoryCanaries() { clear(); }

  /// Overwrites the bytes of a buffer and the kBytes before and after it. `id` identifies the buffer for the caller; an earlier one with
  /// this id is replaced.
  void watch(uint64_t id, std::byte* data, uint64_t bytes, std::string name);
  bool watches(uint64_t id) const { return places_.contains(id); }
  /// Ends the checks of a buffer. overwrite: overwrites its contents too, so that a later read of it gives wrong results.
  void forget(uint64_t id, bool overwrite);
  void clear();
  /// Checks that no canary was overwritten. Errors: internal, at `step`, naming the buffer.
  Result<void> check(const std::string& step) const;

 private:
  struct Place {
    std::byte* data;
    uint64_t bytes;
    std::string name;
  };
  /// Makes AddressSanitizer report accesses to the canaries of a buffer, and ends that.
  static void poison(const Place& place);
  static void unpoison(const Place& place);
  std::map<uint64_t, Place> places_;
};

}  // namespace tenon::runtime
