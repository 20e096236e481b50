// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <protozero/pbf_reader.hpp>
#include <string>

namespace tenon::inline base {

/// Reads numbered fields. A damaged file may give a field another wire type, which protozero leaves to its caller to notice: here it throws
/// protozero::exception, as for any other damage.
class WireReader : public protozero::pbf_reader {
 public:
  using pbf_reader::pbf_reader;
  uint32_t get_uint32() { return of(Wire::varint).pbf_reader::get_uint32(); }
  uint64_t get_uint64() { return of(Wire::varint).pbf_reader::get_uint64(); }
  int64_t get_sint64() { return of(Wire::varint).pbf_reader::get_sint64(); }
  double get_double() { return of(Wire::fixed64).pbf_reader::get_double(); }
  std::string get_string() { return of(Wire::length_delimited).pbf_reader::get_string(); }
  WireReader get_message() { return WireReader(of(Wire::length_delimited).get_view()); }
  auto get_packed_uint32() { return of(Wire::length_delimited).pbf_reader::get_packed_uint32(); }
  auto get_packed_sint64() { return of(Wire::length_delimited).pbf_reader::get_packed_sint64(); }

 private:
  using Wire = protozero::pbf_wire_type;
  WireReader& of(Wire type) {
    if (wire_type() != type) throw protozero::unknown_pbf_wire_type_exception();
    return *this;
  }
};

}  // namespace tenon::inline base
