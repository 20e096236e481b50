// SPDX-License-Identifier: Apache-2.0
// Numbers in the bytes of a program that their fields cannot hold.
#include <gtest/gtest.h>

#include "programs.h"

namespace tenon::tests {
namespace {

using namespace runtime;

/// A program with one more buffer, of that dtype, whose data decides its sizes.
std::string with_buffer(std::string_view dtype) {
  const std::string kind = {'\x08', static_cast<char>(BufferInfo::Kind::dynamic)};
  const std::string fields = kind + '\x10' + std::string(dtype);
  return encode(small_program()) + '\x1a' + static_cast<char>(fields.size()) + fields;
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
