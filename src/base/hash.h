// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tenon::inline base {

/// Combines a hash with another value, for hash tables in memory (the multiplier of Fibonacci hashing, Knuth 6.4).
inline size_t mix(size_t seed, size_t value) { return (seed ^ value) * 0x9e3779b97f4a7c15ull + (seed >> 31); }

/// 128 bits of XXH3: finds damage and equal contents; no protection against an attacker who picks the bytes.
struct Hash128 {
  uint64_t low = 0, high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
  /// 32 hexadecimal digits, high half first.
  std::string text() const;
};

Hash128 hash128(std::span<const std::byte> bytes);
Hash128 hash128(std::string_view text);

/// The same hash, of bytes that come in pieces.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  /// Of all bytes so far; more may follow.
  Hash128 digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::inline base
