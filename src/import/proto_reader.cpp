// SPDX-License-Identifier: Apache-2.0
#include "import/proto_reader.h"

#include <fmt/format.h>
#include <protozero/varint.hpp>

namespace tenon::import {

using protozero::pbf_wire_type;

std::string SourcePlace::text(const char* at) const { return fmt::format("{}, byte {}", file, at - begin); }

Error ProtoReader::bad(std::string what) const {
  return fail(Code::bad_file, where(), "not an ONNX model: " + std::move(what))
      .advice("check that the file was copied whole and is ONNX's binary form");
}

Result<uint64_t> ProtoReader::varint() {
  try {
    const char* at = at_;
    const uint64_t value = protozero::decode_varint(&at, end_);
    at_ = at;
    return value;
  } catch (const protozero::exception& e) { return bad(e.what()); }
}

Result<bool> ProtoReader::next() {
  if (at_ == end_) return false;
  const uint64_t key = TRY(varint());
  if (key >> 3 == 0 || key >> 32 != 0) return bad(fmt::format("field number {} is out of range", key >> 3));
  field_ = static_cast<uint32_t>(key >> 3);
  type_ = static_cast<pbf_wire_type>(key & 7);
  return true;
}

Result<void> ProtoReader::expect(pbf_wire_type type) {
  if (type_ == type) return {};
  return bad(fmt::format("field {} has wire type {}, expected {}", field_, static_cast<int>(type_), static_cast<int>(type)));
}

Result<std::string_view> ProtoReader::bytes() {
  TRY(expect(pbf_wire_type::length_delimited));
  const uint64_t length = TRY(varint());
  const auto left = static_cast<uint64_t>(end_ - at_);
  if (length > left) return bad(fmt::format("field {} says {} bytes, {} are left", field_, length, left));
  std::string_view out(at_, length);
  at_ += length;
  return out;
}

Result<int64_t> ProtoReader::integer() {
  TRY(expect(pbf_wire_type::varint));
  return static_cast<int64_t>(TRY(varint()));
}

Result<float> ProtoReader::number() {
  TRY(expect(pbf_wire_type::fixed32));
  float value;
  if (end_ - at_ < static_cast<ptrdiff_t>(sizeof value)) return bad("the file ends within a number");
  std::memcpy(&value, at_, sizeof value);
  at_ += sizeof value;
  return value;
}

Result<double> ProtoReader::real() {
  TRY(expect(pbf_wire_type::fixed64));
  double value;
  if (end_ - at_ < static_cast<ptrdiff_t>(sizeof value)) return bad("the file ends within a number");
  std::memcpy(&value, at_, sizeof value);
  at_ += sizeof value;
  return value;
}

Result<void> ProtoReader::skip() {
  switch (type_) {
    case pbf_wire_type::varint: TRY(varint()); return {};
    case pbf_wire_type::fixed64: TRY(real()); return {};
    case pbf_wire_type::fixed32: TRY(number()); return {};
    case pbf_wire_type::length_delimited: TRY(bytes()); return {};
    default: return bad(fmt::format("wire type {} does not exist", static_cast<int>(type_)));
  }
}

}  // namespace tenon::import
