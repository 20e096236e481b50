// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::cli {

/// Bytes with a known pattern before and after them, 64-byte aligned.
class GuardedBuffer {
 public:
  /// fill: initial value of each byte.
  explicit GuardedBuffer(size_t bytes, uint8_t fill = 0);

  std::byte* data() { return memory_.data() + begin_; }
  const std::byte* data() const { return memory_.data() + begin_; }
  size_t size() const { return size_; }
  void fill(uint8_t value);
  /// What was overwritten outside of the buffer: "writes 4 bytes past its end"; empty: nothing.
  std::string damage() const;

 private:
  static std::byte pattern(size_t at) { return static_cast<std::byte>(0xC5 ^ (at * 31)); }

  std::vector<std::byte> memory_;
  size_t begin_ = 0, size_ = 0;
};

}  // namespace tenon::cli
