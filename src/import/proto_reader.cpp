// SPDX-License-Identifier: Apache-2.0
#include "import/proto_reader.h"

#include <fmt/format.h>
#include <protozero/varint.hpp>

namespace tenon::import {

using protozero::pbf_wire_type;

std::string SourcePlace::text(const char* at) const { return fmt::format("{}, byte {}", file, at - begin); }

Error ProtoReader::bad(std::string what, std::string expected, std::string found) const {
  return fail(Code::bad_file, where(), "not an ONNX model: " + std::move(what))
      .expected(std::move(expected))
      .found(std::move(found))
      .advice("check that the file was copied whole and is ONNX's binary form");
}

Error ProtoReader::cut_off(size_t wanted) const {
  return bad("the file ends within a number", fmt::format("{} bytes", wanted), fmt::format("{} bytes", end_ - at_));
}

Result<uint64_t> ProtoReader::varint() {
  try {
    const char* at = at_;
    const uint64_t value = protozero::decode_varint(&at, end_);
    at_ = at;
    return value;
  } catch (const protozero::exception& e) { return bad("a number is damaged", "a number of at most 10 bytes", e.what()); }
}

Result<bool> ProtoReader::next() {
  if (at_ == end_) return false;
  const uint64_t key = TRY(varint());
  if (key >> 3 == 0 || key >> 32 != 0) return bad("a field number is out of range", "1 to 536870911", std::to_string(key >> 3));
  field_ = static_cast<uint32_t>(key >> 3);
  type_ = static_cast<pbf_wire_type>(key & 7);
  return true;
}

Result<void> ProtoReader::expect(pbf_wire_type type) {
  if (type_ == type) return {};
  return bad(fmt::format("field {} has another wire type", field_), std::to_string(static_cast<int>(type)),
             std::to_string(static_cast<int>(type_)));
}

Result<std::string_view> ProtoReader::bytes() {
  TRY(expect(pbf_wire_type::length_delimited));
  const uint64_t length = TRY(varint());
  const auto left = static_cast<uint64_t>(end_ - at_);
  if (length > left)
    return bad(fmt::format("field {} is longer than what is left", field_), fmt::format("at most {} bytes", left),
               fmt::format("{} bytes", length));
  std::string_view out(at_, length);
  at_ += length;
  return out;
}

Result<int64_t> ProtoReader::integer() {
  TRY(expect(pbf_wire_type::varint));
  return static_cast<int64_t>(TRY(varint()));
}

template <class T>
Result<T> ProtoReader::of_fixed_size(pbf_wire_type type) {
  TRY(expect(type));
  T value;
  if (end_ - at_ < static_cast<ptrdiff_t>(sizeof value)) return cut_off(sizeof value);
  std::memcpy(&value, at_, sizeof value);
  at_ += sizeof value;
  return value;
}

Result<float> ProtoReader::number() { return of_fixed_size<float>(pbf_wire_type::fixed32); }

Result<double> ProtoReader::real() { return of_fixed_size<double>(pbf_wire_type::fixed64); }

Result<void> ProtoReader::skip() {
  switch (type_) {
    case pbf_wire_type::varint: TRY(varint()); return {};
    case pbf_wire_type::fixed64: TRY(real()); return {};
    case pbf_wire_type::fixed32: TRY(number()); return {};
    case pbf_wire_type::length_delimited: TRY(bytes()); return {};
    default: return bad("a wire type does not exist", "0, 1, 2 or 5", std::to_string(static_cast<int>(type_)));
  }
}

}  // namespace tenon::import
