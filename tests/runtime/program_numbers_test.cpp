// SPDX-License-Identifier: Apache-2.0
// Numbers in the bytes of a program that their fields cannot hold.
#include <gtest/gtest.h>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

/// The bytes of a table whose one program has these fields behind its own.
std::string with_fields(const std::string& fields) {
  const std::string bytes = encode(ProgramTable(small_program()));
  std::string out;
  protozero::pbf_writer table(out);
  for (protozero::pbf_reader in(bytes); in.next(1);) {
    protozero::pbf_writer row(table, 1);
    for (protozero::pbf_reader of = in.get_message(); of.next();) {
      if (of.tag() == 5) row.add_message(5, of.get_view().to_string() + fields);
      else if (of.wire_type() == protozero::pbf_wire_type::varint) row.add_uint64(of.tag(), of.get_uint64());
      else row.add_bytes(of.tag(), of.get_view().to_string());
    }
  }
  return out;
}

/// A program with one more buffer, of that dtype, whose data decides its sizes.
std::string with_buffer(std::string_view dtype) {
  const std::string kind = {'\x08', static_cast<char>(BufferInfo::Kind::dynamic)};
  const std::string fields = kind + '\x10' + std::string(dtype);
  return with_fields(std::string("\x1a") + static_cast<char>(fields.size()) + fields);
}

TEST(ProgramNumbers, AreRefusedWhereAFieldCannotHoldThem) {
  ASSERT_TRUE(decode(with_buffer("\x01"))) << "f32";
  for (const std::string_view dtype : {"\x81\x02", "\x81\x80\x04", "\x81\x80\x80\x80\x10"}) {  // 257, 65537 and 2^32 + 1
    const auto program = decode(with_buffer(dtype));
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().code(), Code::bad_file);
    EXPECT_EQ(program.error()->found, "a number is out of the range of its field");
  }
}

TEST(ProgramNumbers, OfNoEnumeratorAreRefused) { EXPECT_FALSE(decode(with_buffer("\xff\x01"))); }

}  // namespace
}  // namespace tenon::tests
