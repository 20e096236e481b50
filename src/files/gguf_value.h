// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::files {

/// Types of metadata values; the numbers are those of the file format.
enum class GgufType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
/// "u32", "array", ...
std::string_view name_of(GgufType type);

/// A value of a GGUF file's metadata: a view of bytes that the reader has checked. Each accessor decodes them anew.
struct GgufValue {
  GgufType type = GgufType::u8;
  GgufType element = GgufType::u8;   ///< type of an array's elements
  uint64_t count = 0;                ///< number of an array's elements
  std::span<const std::byte> bytes;  ///< of a string its text, of an array its elements as stored

  /// nullopt where the value is of another kind (a u64 beyond int64_t is no integer).
  std::optional<std::string_view> text() const;
  std::optional<bool> boolean() const;
  std::optional<int64_t> integer() const;
  std::optional<double> number() const;  ///< of integers and floats

  /// The elements of an array of strings, of integers, or of integers and floats; nullopt where the value is no such array. Cost: linear.
  std::optional<std::vector<std::string_view>> texts() const;
  std::optional<std::vector<int64_t>> integers() const;
  std::optional<std::vector<double>> numbers() const;
  /// The first `max_count` elements of an array of any type, for printing and for arrays of arrays: 40 bytes of memory each.
  std::vector<GgufValue> elements(uint64_t max_count = UINT64_MAX) const;
};

}  // namespace tenon::files
