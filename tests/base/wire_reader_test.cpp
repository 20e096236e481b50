// SPDX-License-Identifier: Apache-2.0
#include "base/wire_reader.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

enum class Letter : uint8_t { a = 1, last = 255 };

/// The value that `get` reads from field 1; nullopt where it throws.
template <class Get>
auto field(std::string_view bytes, Get get) -> std::optional<decltype(get(std::declval<WireReader&>()))> {
  const auto read = read_fields(bytes, "section", "it does not decode", [&](WireReader r) {
    r.next();
    return get(r);
  });
  return read ? std::optional(*read) : std::nullopt;
}
Letter letter_of(WireReader& r) { return r.get_enum<Letter>(); }
int32_t integer_of(WireReader& r) { return r.get_int32(); }

TEST(WireReader, ReadsNumbersThatFit) {
  EXPECT_EQ(field("\x08\x01", letter_of), Letter::a);
  EXPECT_EQ(field("\x08\xff\x01", letter_of), Letter::last);
  EXPECT_EQ(field("\x08\x07", integer_of), -4);
  EXPECT_EQ(field("\x08\xff\xff\xff\xff\x0f", integer_of), INT32_MIN);
  EXPECT_EQ(field("\x08\xfe\xff\xff\xff\x0f", integer_of), INT32_MAX);
}

TEST(WireReader, RefusesNumbersThatDoNotFit) {
  EXPECT_EQ(field("\x08\x80\x02", letter_of), std::nullopt);
  EXPECT_EQ(field("\x08\x81\x80\x80\x80\x10", letter_of), std::nullopt);
  EXPECT_EQ(field("\x08\x80\x80\x80\x80\x10", integer_of), std::nullopt);
  EXPECT_EQ(field("\x08\x81\x80\x80\x80\x10", integer_of), std::nullopt);
}

TEST(WireReader, RefusesAnotherWireType) {
  EXPECT_EQ(field("\x0a\x01\x01", letter_of), std::nullopt);
  EXPECT_EQ(field("\x09\x01\x02\x03\x04\x05\x06\x07\x08", integer_of), std::nullopt);
}

TEST(ReadFields, NamesTheDamagedSection) {
  const auto read = read_fields("\x08", "section", "it does not decode", [](WireReader r) {
    r.next();
    return r.get_uint64();
  });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::bad_file);
  EXPECT_EQ(read.error()->place, "section");
  EXPECT_EQ(read.error()->what, "it does not decode");
}

}  // namespace
}  // namespace tenon
