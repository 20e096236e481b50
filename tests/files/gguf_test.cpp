// SPDX-License-Identifier: Apache-2.0
#include "files/gguf.h"

#include <gtest/gtest.h>

namespace tenon::files {
namespace {

/// Writes the format field by field.
struct Writer {
  std::vector<std::byte> bytes;

  template <class T>
  Writer& number(T value) {
    const auto* const at = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), at, at + sizeof value);
    return *this;
  }
  Writer& raw(std::string_view text) {
    const auto* const at = reinterpret_cast<const std::byte*>(text.data());
    bytes.insert(bytes.end(), at, at + text.size());
    return *this;
  }
  Writer& text(std::string_view text) { return number(uint64_t{text.size()}).raw(text); }
  Writer& header(uint64_t tensors, uint64_t pairs, uint32_t version = 3) {
    return raw("GGUF").number(version).number(tensors).number(pairs);
  }
  /// ggml's order of sizes: the innermost first.
  Writer& tensor(std::string_view name, std::vector<uint64_t> sizes, uint32_t format, uint64_t offset) {
    text(name).number(static_cast<uint32_t>(sizes.size()));
    for (uint64_t size : sizes) number(size);
    return number(format).number(offset);
  }
  Writer& data(size_t size, size_t alignment = 32) {
    while (bytes.size() % alignment != 0) bytes.push_back(std::byte{0});
    for (size_t k = 0; k < size; ++k) bytes.push_back(static_cast<std::byte>(k));
    return *this;
  }
};

Result<Gguf> read(const Writer& w) { return read_gguf(w.bytes, nullptr, "f.gguf"); }
std::string error_of(const Writer& w) {
  const auto file = read(w);
  return file ? "no error" : file.error()->what + "; found " + file.error()->found;
}

constexpr uint32_t kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kString = 8, kArray = 9, kU64 = 10, kF64 = 12;

TEST(Gguf, ReadsMetadataAndTensors) {
  Writer w;
  w.header(2, 7).text("a").number(kU32).number(uint32_t{7}).text("b").number(kString).text("words");
  w.text("c").number(kF32).number(0.5F).text("d").number(kBool).number(uint8_t{1}).text("e").number(kU64).number(UINT64_MAX);
  w.text("f").number(kArray).number(kI32).number(uint64_t{2}).number(int32_t{-3}).number(int32_t{4});
  w.text("g").number(kArray).number(kString).number(uint64_t{2}).text("x").text("");
  w.tensor("matrix", {32, 2}, 2, 0).tensor("vector", {3}, 0, 64).data(76);
  const auto file = read(w);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(std::get<int64_t>(*file->find("a")), 7);
  EXPECT_EQ(std::get<std::string>(*file->find("b")), "words");
  EXPECT_EQ(std::get<double>(*file->find("c")), 0.5);
  EXPECT_TRUE(std::get<bool>(*file->find("d")));
  EXPECT_EQ(std::get<uint64_t>(*file->find("e")), UINT64_MAX);
  EXPECT_EQ(std::get<std::vector<int64_t>>(*file->find("f")), (std::vector<int64_t>{-3, 4}));
  EXPECT_EQ(std::get<std::vector<std::string>>(*file->find("g")), (std::vector<std::string>{"x", ""}));
  EXPECT_EQ(file->find("h"), nullptr);
  ASSERT_EQ(file->tensors.size(), 2u);
  EXPECT_EQ(file->tensors[0].shape, (Sizes{2, 32}));
  EXPECT_EQ(file->tensors[0].format->name, "Q4_0");
  EXPECT_EQ(file->tensors[0].bytes.size(), 36u);
  EXPECT_EQ(std::to_integer<int>(file->tensors[1].bytes[0]), 64);
}

TEST(Gguf, RefusesWhatIsNoSoundFile) {
  EXPECT_EQ(error_of(Writer().raw("GGML")), "not a sound GGUF file: the first bytes; found others");
  EXPECT_EQ(error_of(Writer().header(0, 0, 1)), "not supported yet: this version of GGUF; found 1");
  EXPECT_EQ(error_of(Writer().header(0, 0, 0x03000000)), "not supported yet: big-endian GGUF files; found big-endian");
  EXPECT_EQ(error_of(Writer().header(UINT64_MAX, 0)),
            "not a sound GGUF file: more tensors than the file has room for; found " + std::to_string(UINT64_MAX));
  EXPECT_EQ(error_of(Writer().header(0, 1).text("k").number(kString).number(UINT64_MAX).data(8)),
            "not a sound GGUF file: a string is too long; found " + std::to_string(UINT64_MAX));
  EXPECT_EQ(error_of(Writer().header(0, 1).text("key").number(uint32_t{13}).data(32)),
            "not a sound GGUF file: a value of an unknown type; found 13");
  EXPECT_EQ(error_of(Writer().header(0, 1).text("key").number(kBool).number(uint8_t{2})),
            "not a sound GGUF file: a bool that is neither; found 2");
  EXPECT_EQ(error_of(Writer().header(0, 1).text("k").number(kArray).number(kF64).number(uint64_t{1} << 61)),
            "not a sound GGUF file: more elements than the file has room for; found " + std::to_string(uint64_t{1} << 61));
  EXPECT_EQ(error_of(Writer().header(0, 1).text("k").number(kArray).number(kArray).number(uint64_t{1}).data(8)),
            "not supported yet: arrays of arrays; found ");
}

TEST(Gguf, RefusesDuplicates) {
  EXPECT_EQ(error_of(Writer().header(0, 2).text("k").number(kU32).number(1).text("k").number(kU32).number(2)),
            "not a sound GGUF file: a key stands twice; found k");
  EXPECT_EQ(error_of(Writer().header(2, 0).tensor("t", {1}, 0, 0).tensor("t", {1}, 0, 32).data(64)),
            "not a sound GGUF file: a tensor stands twice; found t");
}

TEST(Gguf, RefusesTensorsThatLieNowhere) {
  const auto one = [](std::vector<uint64_t> sizes, uint32_t format, uint64_t offset) {
    return error_of(Writer().header(1, 0).tensor("t", std::move(sizes), format, offset).data(64));
  };
  EXPECT_EQ(one({16}, 0, 0), "no error");
  EXPECT_EQ(one({17}, 0, 0), "not a sound GGUF file: the place of tensor 't'; found 0");
  EXPECT_EQ(one({4}, 0, 64), "not a sound GGUF file: the place of tensor 't'; found 64");
  EXPECT_EQ(one({4}, 0, 4), "not a sound GGUF file: the place of tensor 't'; found 4") << "alignment";
  EXPECT_EQ(one({16}, 2, 0), "not a sound GGUF file: the shape of tensor 't'; found [16]") << "half a block";
  EXPECT_EQ(one({uint64_t{1} << 40, uint64_t{1} << 40}, 0, 0),
            "not a sound GGUF file: the shape of tensor 't'; found [1099511627776, 1099511627776]");
  EXPECT_EQ(one({1}, 4, 0), "not supported yet: this block format; found number 4");
  EXPECT_EQ(one({1, 1, 1, 1, 1}, 0, 0), "not a sound GGUF file: the rank of tensor 't'; found 5");
  EXPECT_EQ(error_of(Writer().header(2, 0).tensor("a", {16}, 0, 0).tensor("b", {8}, 0, 32).data(64)),
            "not a sound GGUF file: tensors overlap; found 'a' and 'b'");
  EXPECT_EQ(error_of(Writer().header(0, 1).text("general.alignment").number(kU32).number(uint32_t{0})),
            "not a sound GGUF file: general.alignment; found 0");
}

TEST(Gguf, EachCutIsOneError) {
  Writer w;
  w.header(1, 2).text("a").number(kArray).number(kString).number(uint64_t{2}).text("xy").text("z").text("b").number(kF64).number(1.5);
  w.tensor("t", {4}, 0, 0).data(16);
  for (size_t size = 0; size < w.bytes.size(); ++size) {
    Writer cut;
    cut.bytes.assign(w.bytes.begin(), w.bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_NE(error_of(cut), "no error") << size;
  }
  EXPECT_EQ(error_of(w), "no error");
}

}  // namespace
}  // namespace tenon::files
