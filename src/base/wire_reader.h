// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace tenon::inline base {

/// A number does not fit the type of its field.
struct FieldOutOfRange : protozero::exception {
  const char* what() const noexcept override { return "a number is out of the range of its field"; }
};

/// Reads numbered fields. A damaged file may give a field another wire type, which protozero leaves to its caller to notice, or a number
/// that its type cannot hold: here both throw protozero::exception, as any other damage does.
class WireReader : public protozero::pbf_reader {
 public:
  using pbf_reader::pbf_reader;
  uint32_t get_uint32() { return of(Wire::varint).pbf_reader::get_uint32(); }
  uint64_t get_uint64() { return of(Wire::varint).pbf_reader::get_uint64(); }
  int64_t get_sint64() { return of(Wire::varint).pbf_reader::get_sint64(); }
  double get_double() { return of(Wire::fixed64).pbf_reader::get_double(); }
  /// Written as sint64.
  int32_t get_int32() { return narrowed<int32_t>(get_sint64()); }
  /// An enumerator by its number. That it is one of the enumerators is for the caller to check.
  template <class Enum>
  Enum get_enum() {
    return static_cast<Enum>(narrowed<std::underlying_type_t<Enum>>(get_uint64()));
  }
  std::string get_string() { return of(Wire::length_delimited).pbf_reader::get_string(); }
  WireReader get_message() { return WireReader(of(Wire::length_delimited).get_view()); }
  auto get_packed_uint32() { return of(Wire::length_delimited).pbf_reader::get_packed_uint32(); }
  auto get_packed_sint64() { return of(Wire::length_delimited).pbf_reader::get_packed_sint64(); }

 private:
  template <class To, class From>
  static To narrowed(From value) {
    if (!std::in_range<To>(value)) throw FieldOutOfRange();
    return static_cast<To>(value);
  }
  using Wire = protozero::pbf_wire_type;
  WireReader& of(Wire type) {
    if (wire_type() != type) throw protozero::unknown_pbf_wire_type_exception();
    return *this;
  }
};

/// The error bad_file for damaged fields in a section of an engine. what: "the program does not decode".
Error damaged_fields(std::string_view section, std::string_view what, std::string found);

/// Calls `read` with a WireReader of these bytes and returns its result. Errors: damaged_fields where it throws.
template <class Read>
Result<std::invoke_result_t<Read, WireReader>> read_fields(std::string_view bytes, std::string_view section, std::string_view what,
                                                           Read read) {
  try {
    return read(WireReader(bytes.data(), bytes.size()));
  } catch (const protozero::exception& e) { return damaged_fields(section, what, e.what()); }
}

}  // namespace tenon::inline base
