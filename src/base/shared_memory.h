// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tenon::inline base {

/// Registers memory that is mapped from a file whose descriptor can be passed to other processes; the destructor unregisters it.
class SharedMemory {
 public:
  /// A location in registered memory, which another process can map.
  struct Place {
    uint64_t block = 0;  ///< distinguishes successive blocks at one address; from 1
    int file = -1;       ///< the descriptor
    uint64_t offset = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  SharedMemory(const std::byte* begin, uint64_t bytes, int file, uint64_t offset);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;

  /// The file and offset of these bytes. None: some of them are in no registered memory.
  static std::optional<Place> find(const void* begin, uint64_t bytes);

 private:
  const std::byte* begin_;
};

}  // namespace tenon::inline base
