// SPDX-License-Identifier: Apache-2.0
#include "files/safetensors.h"

#include <gtest/gtest.h>

namespace tenon::files {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>((uint64_t{header.size()} >> (8 * i)) & 0xff);
  return out + header + data;
}
Result<SafeTensors> read(const std::string& bytes) {
  return read_safetensors(std::as_bytes(std::span(bytes)), nullptr, "test.safetensors");
}
Code code_of(const std::string& header, const std::string& data = "12345678") { return read(file_of(header, data)).error().code(); }

constexpr const char* kTwo =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},"a":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}})";

TEST(SafeTensors, ReadsTensorsInTheOrderOfTheirBytes) {
  const auto file = read(file_of(kTwo, std::string("\1\2\3\4\5\6", 6)));
  ASSERT_TRUE(file.has_value()) << file.error().text();
  EXPECT_EQ(file->entries[0].name, "a");
  EXPECT_EQ(file->entries[1].offset, 8 + std::string(kTwo).size() + 4);
  EXPECT_EQ(file->find("b")->integer(1), 6);
  EXPECT_EQ(file->find("c"), nullptr);
  EXPECT_EQ(file->metadata.at("format"), "pt");
}

TEST(SafeTensors, CopiesWhatIsNotAligned) {
  const auto bytes = std::make_shared<std::string>(
      file_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})", "xabcd"));
  const auto file = read_safetensors(std::as_bytes(std::span(*bytes)), bytes, "x");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(file->find("b")->data()) % 4, 0u);
}

TEST(SafeTensors, RefusesUnsoundFiles) {
  EXPECT_EQ(code_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})"), Code::bad_file);
  EXPECT_EQ(code_of(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})"), Code::bad_file);
  EXPECT_EQ(code_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})"), Code::bad_file);
  EXPECT_EQ(code_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"), Code::bad_file);  // a hole
  EXPECT_EQ(code_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})"), Code::bad_file);  // bytes left
  EXPECT_EQ(code_of(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})"), Code::bad_file);
  EXPECT_EQ(code_of(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})"), Code::bad_file);
  EXPECT_EQ(code_of(R"({"a":{"dtype":"Q7","shape":[1],"data_offsets":[0,8]}})"), Code::not_supported);
  EXPECT_EQ(code_of(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})"),
            Code::bad_file);
  EXPECT_EQ(code_of(R"({"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"b":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})"),
            Code::bad_file);
  EXPECT_EQ(code_of(R"({"a":7})"), Code::bad_file);
  EXPECT_EQ(code_of("[1]"), Code::bad_file);
  EXPECT_EQ(code_of(std::string(100000, '[')), Code::bad_file);
  EXPECT_EQ(read(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)).error().code(), Code::limit_exceeded);
}

TEST(SafeTensors, EveryTruncationIsAnError) {
  const std::string bytes = file_of(kTwo, std::string("\1\2\3\4\5\6", 6));
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(read(bytes.substr(0, size)).has_value()) << size;
}

}  // namespace
}  // namespace tenon::files
