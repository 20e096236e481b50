// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tenon::inline base {

/// Says, while it lives, that memory of this process lies in a file which others may be let to read: no other memory does.
class SharedMemory {
 public:
  struct Place {
    uint64_t block = 0;  ///< distinguishes successive blocks at one address; from 1
    int file = -1;       ///< the descriptor
    uint64_t offset = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  SharedMemory(const std::byte* begin, uint64_t bytes, int file, uint64_t offset);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;

  /// Where these bytes lie in such a file. None: they do not, or not all.
  static std::optional<Place> find(const void* begin, uint64_t bytes);

 private:
  const std::byte* begin_;
};

}  // namespace tenon::inline base
