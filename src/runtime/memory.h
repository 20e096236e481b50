// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/result.h"

namespace tenon::runtime {

/// Anonymous memory that only grows; 4 KiB aligned, zeroed when fresh.
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { release(); }
  /// What was in it is lost where it grows. Errors: out_of_memory.
  Result<std::byte*> reserve(uint64_t bytes) {
    if (bytes <= size_) return data_;
    release();
    const uint64_t size = (bytes + 4095) / 4096 * 4096;
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return fail(Code::out_of_memory, "run", "no memory for intermediate values")
          .expected(fmt::format("{} bytes", bytes))
          .found(std::strerror(errno))
          .advice("give smaller inputs, or use fewer threads");
    data_ = static_cast<std::byte*>(memory);
    size_ = size;
    return data_;
  }
  std::byte* data() const { return data_; }

 private:
  void release() {
    if (data_) munmap(data_, size_);
    data_ = nullptr;
    size_ = 0;
  }
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace tenon::runtime
