// SPDX-License-Identifier: Apache-2.0
#include "files/gguf.h"

#include <gtest/gtest.h>

#include "gguf_writer.h"

namespace tenon::files {
namespace {

Result<Gguf> read(const std::string& bytes) { return read_gguf(std::as_bytes(std::span(bytes)), nullptr, "test.gguf"); }
Result<Gguf> read(const GgufWriter& writer) {
  static std::vector<std::unique_ptr<std::string>> kept;  // results point into the bytes
  return read(*kept.emplace_back(std::make_unique<std::string>(writer.file())));
}

std::string f32s(size_t count) { return std::string(4 * count, '\1'); }

/// A value of every type, arrays, a matrix of f32 and one of Q4_0.
GgufWriter sample() {
  GgufWriter w;
  w.add_text("general.architecture", "llama");
  w.add_number<uint8_t>("u8", 0, 200).add_number<int8_t>("i8", 1, -3).add_number<uint16_t>("u16", 2, 60000);
  w.add_number<int16_t>("i16", 3, -300).add_number<uint32_t>("u32", 4, 4000000000).add_number<int32_t>("i32", 5, -5);
  w.add_number<float>("f32", 6, 0.5f).add_number<uint8_t>("bool", 7, 1).add_number<uint64_t>("u64", 10, UINT64_MAX);
  w.add_number<int64_t>("i64", 11, -6).add_number<double>("f64", 12, 0.25);
  w.add("texts", 9, GgufWriter::array(8, 2, GgufWriter::text("ab") + GgufWriter::text("")));
  w.add("numbers", 9, GgufWriter::array(5, 3, GgufWriter::raw(1) + GgufWriter::raw(-2) + GgufWriter::raw(3)));
  const std::string inner = GgufWriter::array(4, 1, GgufWriter::raw<uint32_t>(7)) + GgufWriter::array(8, 0, "");
  w.add("nested", 9, GgufWriter::array(9, 2, inner));
  w.add_tensor("a", {3, 2}, 0, f32s(6)).add_tensor("b", {64, 5}, 2, std::string(180, 'q'));
  return w;
}

TEST(Gguf, ReadsMetadataOfEveryType) {
  const auto file = read(sample());
  ASSERT_TRUE(file.has_value()) << file.error().text();
  EXPECT_EQ(file->version, 3u);
  EXPECT_EQ(file->architecture(), "llama");
  const std::pair<const char*, int64_t> integers[] = {{"u8", 200},         {"i8", -3},  {"u16", 60000}, {"i16", -300},
                                                      {"u32", 4000000000}, {"i32", -5}, {"i64", -6}};
  for (const auto& [key, value] : integers) EXPECT_EQ(file->find(key)->integer(), value) << key;
  EXPECT_EQ(file->find("u64")->integer(), std::nullopt);
  EXPECT_EQ(file->find("u64")->number(), 0x1p64);
  EXPECT_EQ(file->find("f32")->number(), 0.5);
  EXPECT_EQ(file->find("f64")->number(), 0.25);
  EXPECT_EQ(file->find("bool")->boolean(), true);
  EXPECT_EQ(file->find("bool")->integer(), std::nullopt);
  EXPECT_EQ(file->find("texts")->texts(), (std::vector<std::string_view>{"ab", ""}));
  EXPECT_EQ(file->find("texts")->integers(), std::nullopt);
  EXPECT_EQ(file->find("numbers")->integers(), (std::vector<int64_t>{1, -2, 3}));
  EXPECT_EQ(file->find("numbers")->elements(2).size(), 2u);
  EXPECT_EQ(file->find("nested")->elements()[0].integers(), std::vector<int64_t>{7});
  EXPECT_EQ(file->find("nested")->elements()[1].texts(), std::vector<std::string_view>{});
  EXPECT_EQ(file->find("none"), nullptr);
  EXPECT_EQ(file->metadata[1].key, "u8");
}

TEST(Gguf, ReadsTensorsInRowMajorOrder) {
  const auto file = read(sample());
  ASSERT_TRUE(file.has_value()) << file.error().text();
  EXPECT_EQ(file->find_tensor("a")->shape, (Sizes{2, 3}));
  const Gguf::Tensor& b = *file->find_tensor("b");
  EXPECT_EQ(b.format->name, "Q4_0");
  EXPECT_EQ(b.count(), 320);
  EXPECT_EQ(b.bytes.size(), 180u);
  EXPECT_EQ(b.bytes[0], std::byte{'q'});
  EXPECT_EQ(b.offset % 32, 0u);
  EXPECT_EQ(file->find_tensor("c"), nullptr);
}

TEST(Gguf, FollowsTheFilesAlignment) {
  GgufWriter w;
  w.alignment = 128;
  w.add_number<uint32_t>("general.alignment", 4, 128).add_tensor("a", {1}, 0, "abcd").add_tensor("b", {1}, 0, "efgh");
  const auto file = read(w);
  ASSERT_TRUE(file.has_value()) << file.error().text();
  EXPECT_EQ(file->find_tensor("b")->offset % 128, 0u);
  EXPECT_EQ(file->find_tensor("b")->bytes[0], std::byte{'e'});
}

/// The one error of a file, with all its parts.
Diagnostic refused(const GgufWriter& w) {
  const auto file = read(w);
  if (file) return {};
  const Diagnostic& d = *file.error();
  EXPECT_TRUE(d.place.starts_with("test.gguf")) << d.text();
  EXPECT_FALSE(d.expected.empty() || d.found.empty() || d.advice.empty()) << d.text();
  return d;
}

TEST(Gguf, RefusesOtherVersionsAndByteOrders) {
  GgufWriter w = sample();
  w.version = 1;
  EXPECT_EQ(refused(w).code, Code::not_supported);
  w.version = 3u << 24;
  EXPECT_NE(refused(w).what.find("big-endian"), std::string::npos);
  w.magic = 0x12345678;
  EXPECT_EQ(refused(w).what, "not a GGUF file");
  w = sample();
  w.version = 2;
  EXPECT_TRUE(read(w).has_value());
}

TEST(Gguf, RefusesCountsBeyondTheFile) {
  for (const int64_t count : {int64_t{100}, int64_t{1} << 40, INT64_MAX - 100}) {
    GgufWriter w = sample();
    w.more_tensors = count;
    EXPECT_EQ(refused(w).code, Code::bad_file) << count;
    w.more_tensors = 0;
    w.more_entries = count;
    EXPECT_EQ(refused(w).code, Code::bad_file) << count;
    EXPECT_EQ(refused(GgufWriter().add("k", 8, GgufWriter::raw(count) + "x")).code, Code::bad_file);
    EXPECT_EQ(refused(GgufWriter().add("k", 9, GgufWriter::array(10, static_cast<uint64_t>(count), "xx"))).code, Code::bad_file);
    EXPECT_EQ(refused(GgufWriter().add("k", 9, GgufWriter::array(8, static_cast<uint64_t>(count), "xx"))).code, Code::bad_file);
  }
}

TEST(Gguf, RefusesUnsoundMetadata) {
  EXPECT_EQ(refused(GgufWriter().add_text("k", "a").add_text("k", "b")).found, "a second value");
  EXPECT_EQ(refused(GgufWriter().add("k", 13, "x")).code, Code::not_supported);
  EXPECT_EQ(refused(GgufWriter().add_text(std::string(70000, 'k'), "")).code, Code::limit_exceeded);
  std::string deep = GgufWriter::array(4, 0, "");
  for (int k = 0; k < 1000; ++k) deep = GgufWriter::array(9, 1, deep);
  EXPECT_EQ(refused(GgufWriter().add("k", 9, deep)).code, Code::limit_exceeded);
  for (uint32_t alignment : {0u, 24u, 0x80000000u})
    EXPECT_EQ(refused(GgufWriter().add_number("general.alignment", 4, alignment)).code, Code::bad_file) << alignment;
  EXPECT_EQ(refused(GgufWriter().add_text("general.alignment", "32")).found, "string");
}

TEST(Gguf, RefusesUnsoundTensors) {
  const std::string four = f32s(4);
  EXPECT_EQ(refused(GgufWriter().add_tensor("a", {4}, 0, four).add_tensor("a", {4}, 0, four)).found, "a second tensor");
  EXPECT_NE(refused(GgufWriter().add_tensor("a", {16}, 0, f32s(16)).add_tensor_at("b", {1}, 0, 32)).what.find("overlap"),
            std::string::npos);
  EXPECT_NE(refused(GgufWriter().add_tensor("a", {5}, 0, four)).what.find("outside"), std::string::npos);
  EXPECT_NE(refused(GgufWriter().add_tensor_at("a", {1}, 0, uint64_t{0} - 32)).what.find("outside"), std::string::npos);
  EXPECT_NE(refused(GgufWriter().add_tensor("a", {4}, 0, four).add_tensor_at("b", {1}, 0, 4)).what.find("aligned"), std::string::npos);
  EXPECT_EQ(refused(GgufWriter().add_tensor("a", {1, 1, 1, 1, 1}, 0, four)).code, Code::limit_exceeded);
  EXPECT_EQ(refused(GgufWriter().add_tensor("a", {UINT64_MAX}, 0, four)).code, Code::size_overflow);
  EXPECT_EQ(refused(GgufWriter().add_tensor("a", {1u << 31, 1u << 31, 1u << 31}, 0, four)).code, Code::size_overflow);
  EXPECT_EQ(refused(GgufWriter().add_tensor("a", {1u << 31, 1u << 31}, 0, four)).code, Code::size_overflow);
  EXPECT_EQ(refused(GgufWriter().add_tensor("a", {1u << 31, 1u << 28}, 0, four)).code, Code::bad_file);
  EXPECT_NE(refused(GgufWriter().add_tensor("a", {16, 2}, 2, four)).what.find("blocks"), std::string::npos);
  const Diagnostic iq2 = refused(GgufWriter().add_tensor("w", {256}, 17, four));
  EXPECT_EQ(iq2.place, "test.gguf:w");
  EXPECT_NE(iq2.what.find("IQ2_XS"), std::string::npos);
}

TEST(Gguf, EveryTruncationIsAnError) {
  const std::string bytes = sample().file();
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(read(bytes.substr(0, size)).has_value()) << size;
}

TEST(Gguf, FlippedBitsGiveFilesOrErrors) {
  const std::string bytes = sample().file();
  int refusals = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto file = read(flipped);
    if (!file) ++refusals;
    else
      for (const Gguf::Tensor& t : file->tensors) EXPECT_LE(t.offset + t.bytes.size(), flipped.size());
  }
  EXPECT_GT(refusals, 500);
}

}  // namespace
}  // namespace tenon::files
