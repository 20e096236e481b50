// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::plugin::worker {

/// Writes messages between a process and its worker: numbers of eight bytes, and texts after their length.
class Packer {
 public:
  /// Writes to `out`, whose memory is kept.
  explicit Packer(std::string& out) : out_(out) { out_.clear(); }
  template <class T>
    requires std::integral<T> || std::is_enum_v<T>
  Packer& operator<<(T number) {
    const auto wide = static_cast<int64_t>(number);
    out_.append(reinterpret_cast<const char*>(&wide), sizeof wide);
    return *this;
  }
  Packer& operator<<(std::string_view text) {
    *this << text.size();
    out_.append(text);
    return *this;
  }
  Packer& operator<<(std::span<const int64_t> numbers) {
    *this << numbers.size();
    for (const int64_t n : numbers) *this << n;
    return *this;
  }

 private:
  std::string& out_;
};

/// Reads such a message. Reading past its end gives 0 or an empty text, and sets is_broken().
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left_(bytes) {}
  int64_t number() {
    int64_t out = 0;
    if (const std::string_view bytes = take(sizeof out); bytes.size() == sizeof out) std::memcpy(&out, bytes.data(), sizeof out);
    return out;
  }
  template <class T>
  T as() {
    return static_cast<T>(number());
  }
  std::string_view text() { return take(as<uint64_t>()); }
  std::vector<int64_t> numbers() {
    const auto count = as<uint64_t>();
    if (count > left_.size() / sizeof(int64_t)) broken_ = true;
    std::vector<int64_t> out(broken_ ? 0 : count);
    for (int64_t& n : out) n = number();
    return out;
  }
  bool is_broken() const { return broken_; }

 private:
  std::string_view take(uint64_t size) {
    if (size > left_.size()) broken_ = true;
    if (broken_) return {};
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(size);
    return out;
  }

  std::string_view left_;
  bool broken_ = false;
};

void pack(Packer& to, const Error& error);
Error unpack_error(Unpacker& from);

}  // namespace tenon::plugin::worker
