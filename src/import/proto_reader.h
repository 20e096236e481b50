// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

#include <protozero/types.hpp>

#include "base/result.h"

namespace tenon::import {

/// The name and first byte of a file; converts a pointer into it to "model.onnx, byte 123".
struct SourcePlace {
  std::string_view file;
  const char* begin = nullptr;
  std::string text(const char* at) const;
};

/// Reads one protobuf message field by field, in place. It uses protozero's varints, but with 64-bit lengths (protozero's own reader
/// truncates them to 32 bits); malformed input is the error bad_file with the offset.
///
///   while (TRY(m.next())) switch (m.field()) { case 1: name = TRY(m.bytes()); break; default: TRY(m.skip()); }
class ProtoReader {
 public:
  ProtoReader(const SourcePlace& place, std::string_view message)
      : place_(&place), at_(message.data()), end_(message.data() + message.size()) {}

  /// False at the end of the message.
  Result<bool> next();
  uint32_t field() const { return field_; }
  Result<void> skip();
  /// The current field as bytes, string or nested message.
  Result<std::string_view> bytes();
  /// The current field as a varint, a float and a double.
  Result<int64_t> integer();
  Result<float> number();
  Result<double> real();

  /// A repeated scalar, packed or not: calls visit(value) for each element of the current field.
  template <class Visit>
  Result<void> integers(Visit visit);
  template <class T, class Visit>
  Result<void> fixed(Visit visit);

  const char* position() const { return at_; }
  std::string where() const { return place_->text(at_); }
  const SourcePlace& place() const { return *place_; }

 private:
  Error bad(std::string what, std::string expected, std::string found) const;
  Error cut_off(size_t wanted) const;
  Result<uint64_t> varint();
  Result<void> expect(protozero::pbf_wire_type type);
  template <class T>
  Result<T> of_fixed_size(protozero::pbf_wire_type type);

  const SourcePlace* place_;
  const char* at_;
  const char* end_;
  uint32_t field_ = 0;
  protozero::pbf_wire_type type_ = protozero::pbf_wire_type::unknown;
};

template <class Visit>
Result<void> ProtoReader::integers(Visit visit) {
  if (type_ != protozero::pbf_wire_type::length_delimited) {
    visit(TRY(integer()));
    return {};
  }
  ProtoReader packed(*place_, TRY(bytes()));
  while (packed.at_ != packed.end_) visit(static_cast<int64_t>(TRY(packed.varint())));
  return {};
}

template <class T, class Visit>
Result<void> ProtoReader::fixed(Visit visit) {
  if (type_ != protozero::pbf_wire_type::length_delimited) {
    if constexpr (sizeof(T) == 4) visit(TRY(number()));
    else visit(TRY(real()));
    return {};
  }
  std::string_view packed = TRY(bytes());
  if (packed.size() % sizeof(T) != 0)
    return bad("a packed list ends within an element", "whole elements", std::to_string(packed.size()) + " bytes");
  for (size_t i = 0; i < packed.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, packed.data() + i, sizeof(T));
    visit(value);
  }
  return {};
}

}  // namespace tenon::import
