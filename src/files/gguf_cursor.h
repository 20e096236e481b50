// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "files/gguf_value.h"

namespace tenon::files {

/// Reads a little-endian GGUF file from its first byte on. Reads never exceed the file; errors name the offset.
class GgufCursor {
 public:
  static constexpr int kMaxNesting = 8;  ///< of arrays in arrays

  GgufCursor(std::span<const std::byte> bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  /// Of the next byte.
  uint64_t offset() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }
  /// "FILE:byte OFFSET", for errors.
  std::string place() const { return place(at_); }
  std::string place(uint64_t offset) const;

  /// Reads a number. Here and below `what` names the item in errors ("the number of tensors"). Errors of all: bad_file, where the file ends
  /// before the item does.
  template <class T>
  Result<T> number(std::string_view what) {
    T value;
    const auto bytes = TRY(take(sizeof(T), what));
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  /// Reads a number of items, and checks that the rest of the file has room for them at `min_bytes` each.
  Result<uint64_t> count(uint64_t min_bytes, std::string_view what);
  /// Reads a string. Errors also: limit_exceeded, longer than `max_bytes`.
  Result<std::string_view> text(uint64_t max_bytes, std::string_view what);
  /// Reads the number of a type. Errors also: not_supported, an unknown type.
  Result<GgufType> type(std::string_view what);
  /// Reads a value of this type. depth: of enclosing arrays. Errors also: limit_exceeded, nested deeper than kMaxNesting.
  Result<GgufValue> value(GgufType type, std::string_view what, int depth = 0);

 private:
  Result<std::span<const std::byte>> take(uint64_t count, std::string_view what);

  std::span<const std::byte> bytes_;
  std::string file_;
  uint64_t at_ = 0;
};

}  // namespace tenon::files
