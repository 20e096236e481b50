// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/blocks/block_format.h"

namespace tenon {
namespace {

std::vector<std::byte> bytes_of(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> out;
  for (size_t k = 0; k + 1 < hex.size(); k += 2) out.push_back(static_cast<std::byte>(digit(hex[k]) << 4 | digit(hex[k + 1])));
  return out;
}

const BlockFormat* format_named(std::string_view name) {
  const auto found = std::ranges::find(block_formats(), name, &BlockFormat::name);
  return found == block_formats().end() ? nullptr : &*found;
}

/// tools/models/make_block_samples.py wrote the file.
TEST(Blocks, DecodedNumbersHaveTheBitsOfPyPIsGguf) {
  std::ifstream file(TENON_TEST_DATA "/blocks.expected");
  std::set<std::string> seen;
  for (std::string name, block, numbers; file >> name >> block >> numbers;) {
    const BlockFormat* const format = format_named(name);
    ASSERT_TRUE(format && format->decode) << name;
    const std::vector<std::byte> bytes = bytes_of(block), want = bytes_of(numbers);
    ASSERT_EQ(bytes.size(), static_cast<size_t>(format->bytes)) << name;
    std::vector<float> got(static_cast<size_t>(format->elements));
    decode_blocks(*format, bytes, got);
    ASSERT_EQ(want.size(), got.size() * sizeof(float)) << name;
    EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size()), 0) << name;
    seen.insert(name);
  }
  for (const BlockFormat& f : block_formats()) EXPECT_TRUE(!f.decode || f.name == "F32" || seen.contains(std::string(f.name))) << f.name;
}

TEST(Blocks, FormatsAreFoundByTheirNumbers) {
  for (const BlockFormat& f : block_formats()) EXPECT_EQ(block_format(f.number), &f) << f.name;
  EXPECT_EQ(block_format(4), nullptr) << "removed from ggml";
}

}  // namespace
}  // namespace tenon
