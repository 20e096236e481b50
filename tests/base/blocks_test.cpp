// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

#include "base/blocks/block_bits.h"
#include "base/blocks/grouped_codes.h"
#include "base/blocks/panel_words.h"
#include "base/dtype.h"

namespace tenon::inline base {
namespace {

std::vector<std::byte> bytes_of_hex(const std::string& text) {
  std::vector<std::byte> out;
  for (size_t i = 0; i + 1 < text.size(); i += 2) out.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return out;
}

std::vector<float> floats_of_hex(const std::string& text) {
  const auto bytes = bytes_of_hex(text);
  std::vector<float> out(bytes.size() / sizeof(float));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::vector<uint32_t> bits_of(std::span<const float> values) {
  std::vector<uint32_t> out;
  for (float v : values) out.push_back(std::bit_cast<uint32_t>(v));
  return out;
}

struct Case {
  std::string kind, format, given, expected;
};
/// The lines of blocks.txt: what gguf.quants gives.
std::vector<Case> cases(const std::string& kind) {
  std::ifstream file(std::string(TENON_TEST_DATA) + "/blocks.txt");
  std::vector<Case> out;
  for (std::string line; std::getline(file, line);) {
    Case c;
    std::istringstream(line) >> c.kind >> c.format >> c.given >> c.expected;
    if (c.kind == kind) out.push_back(c);
  }
  return out;
}

TEST(Blocks, DecodeEqualsGgufBitForBit) {
  std::set<std::string_view> seen;
  for (const Case& c : cases("decode")) {
    const BlockFormat* format = block_format_named(c.format);
    ASSERT_NE(format, nullptr) << c.format;
    const auto expected = floats_of_hex(c.expected);
    std::vector<float> values(expected.size());
    dequantize(*format, bytes_of_hex(c.given), values);
    EXPECT_EQ(bits_of(values), bits_of(expected)) << c.format;
    seen.insert(format->name);
  }
  EXPECT_EQ(seen.size(), block_formats().size());
}

TEST(Blocks, EncodeEqualsGgufByteForByte) {
  EXPECT_EQ(cases("encode").size(), 18u);
  for (const Case& c : cases("encode")) {
    const BlockFormat& format = *block_format_named(c.format);
    std::vector<std::byte> blocks(static_cast<size_t>(format.bytes));
    ASSERT_TRUE(quantize(format, floats_of_hex(c.given), blocks).has_value());
    EXPECT_EQ(blocks, bytes_of_hex(c.expected)) << c.format;
  }
}

TEST(Blocks, F16IsDecodedExactly) {
  const BlockFormat& format = *block_format_named("F16");
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const std::byte bytes[] = {static_cast<std::byte>(bits & 0xff), static_cast<std::byte>(bits >> 8)};
    float value = 0;
    format.decode(bytes, &value);
    const double expected = decode_float(DType::f16, bits);
    if (std::isnan(expected)) EXPECT_TRUE(std::isnan(value)) << bits;
    else EXPECT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(static_cast<float>(expected))) << bits;
  }
}

TEST(Blocks, QuantizeReturnsRootMeanSquareError) {
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i * i));
  for (const char* name : {"Q4_0", "Q4_1", "Q8_0"}) {
    const BlockFormat& format = *block_format_named(name);
    std::vector<std::byte> blocks(2 * static_cast<size_t>(format.bytes));
    std::vector<float> decoded(values.size());
    const auto error = quantize(format, values, blocks);
    ASSERT_TRUE(error.has_value());
    dequantize(format, blocks, decoded);
    double squares = 0;
    for (size_t i = 0; i < values.size(); ++i) squares += std::pow(static_cast<double>(decoded[i]) - static_cast<double>(values[i]), 2);
    EXPECT_DOUBLE_EQ(*error, std::sqrt(squares / 64)) << name;
    EXPECT_GT(*error, 0) << name;
    EXPECT_LT(*error, name == std::string_view("Q8_0") ? 0.004 : 0.05) << name;
  }
}

TEST(Blocks, QuantizeOfTinyValuesGivesZeros) {
  const std::vector<float> values(32, std::numeric_limits<float>::denorm_min());
  for (const char* name : {"Q4_0", "Q4_1", "Q8_0"}) {
    const BlockFormat& format = *block_format_named(name);
    std::vector<std::byte> blocks(static_cast<size_t>(format.bytes));
    std::vector<float> decoded(32, 1.0f);
    ASSERT_TRUE(quantize(format, values, blocks).has_value());
    dequantize(format, blocks, decoded);
    for (float v : decoded) EXPECT_EQ(v, 0.0f) << name;
  }
}

TEST(Blocks, QuantizeRefusesValuesWithoutScale) {
  for (const char* name : {"Q4_0", "Q4_1", "Q8_0"}) {
    const BlockFormat& format = *block_format_named(name);
    std::vector<std::byte> blocks(2 * static_cast<size_t>(format.bytes));
    for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -3e38f}) {
      std::vector<float> values(64, 1.0f);
      values[40] = bad;
      const auto error = quantize(format, values, blocks);
      ASSERT_FALSE(error.has_value()) << name << bad;
      EXPECT_EQ(error.error().code(), Code::bad_input);
      EXPECT_TRUE(error.error()->place.starts_with("element ")) << error.error().text();
    }
  }
  std::vector<std::byte> block(84);
  EXPECT_EQ(quantize(*block_format_named("Q2_K"), std::vector<float>(256), block).error().code(), Code::not_supported);
}

TEST(Blocks, UnsupportedTypesAreRefusedByName) {
  const auto iq2 = block_format(16);
  ASSERT_FALSE(iq2.has_value());
  EXPECT_EQ(iq2.error().code(), Code::not_supported);
  EXPECT_NE(iq2.error()->what.find("IQ2_XXS"), std::string::npos);
  EXPECT_NE(iq2.error()->advice.find("Q2_K"), std::string::npos);
  EXPECT_NE(block_format(21).error()->advice.find("Q3_K"), std::string::npos);
  EXPECT_EQ(block_format(4).error().code(), Code::not_supported);
  EXPECT_EQ((*block_format(12))->name, "Q4_K");
}

TEST(Blocks, BytesAreOfWholeBlocks) {
  const BlockFormat& format = *block_format_named("Q4_1");
  EXPECT_EQ(block_bytes(format, 64), 40u);
  EXPECT_EQ(block_bytes(format, 33), std::nullopt);
  EXPECT_EQ(block_bytes(*block_format_named("F32"), UINT64_MAX), std::nullopt);
}

/// Of a linear format: fma(code, scale, minimum) of each element. Empty where a stored scale is not finite.
std::vector<float> linear_elements(const BlockFormat& format, const std::byte* block) {
  const LinearBlocks& linear = *format.linear;
  int8_t codes[LinearBlocks::kMostElements];
  std::byte scales[LinearBlocks::kMostScales * sizeof(float)];
  uint32_t words[8] = {};
  linear.codes(block, codes);
  linear.scales(block, scales);
  if (linear.sub_blocks) linear.sub_blocks->integers(block, words);
  const auto stored = [&](int number) {
    const std::byte* const at = scales + int64_t{number} * bytes_of(linear.scale_type, 1);
    if (linear.scale_type == DType::f16) return block_bits::f16_at(at);
    return std::bit_cast<float>(block_bits::bits32(at));
  };
  std::vector<float> out;
  for (int i = 0; i < format.elements; ++i) {
    const int number = i / scale_elements(format) * scale_parts(format);
    float scale = stored(number), minimum = linear.has_minimum ? stored(number + 1) : 0;
    if (!std::isfinite(scale) || !std::isfinite(minimum)) return {};
    if (const SubBlocks* sub = linear.sub_blocks) {
      const int bit = i / sub->elements * sub->bits();
      const auto field = static_cast<int>(words[bit / 32] >> (bit % 32) & ((1U << sub->scale_bits) - 1));
      scale *= static_cast<float>(sub->is_signed && field >> (sub->scale_bits - 1) ? field - (1 << sub->scale_bits) : field);
      minimum *= static_cast<float>(words[bit / 32] >> (bit % 32 + sub->scale_bits) & ((1U << sub->minimum_bits) - 1));
    }
    if (!linear.has_minimum) minimum = scale * static_cast<float>(linear.offset);
    out.push_back(std::fma(static_cast<float>(codes[i]), scale, minimum));
  }
  return out;
}

TEST(Blocks, LinearOnesAreOneRoundingOfCodeTimesScalePlusMinimum) {
  std::set<std::string_view> compared;
  for (const BlockFormat* format : block_formats()) {
    if (!format->linear) continue;
    for (const Case& c : cases("decode")) {
      if (c.format != format->name) continue;
      const auto blocks = bytes_of_hex(c.given);
      for (size_t at = 0; at + static_cast<size_t>(format->bytes) <= blocks.size(); at += static_cast<size_t>(format->bytes)) {
        const std::vector<float> got = linear_elements(*format, &blocks[at]);
        std::vector<float> want(static_cast<size_t>(format->elements));
        format->decode(&blocks[at], want.data());
        if (got.empty()) continue;
        EXPECT_EQ(got, want) << format->name;
        compared.insert(format->name);
      }
    }
  }
  EXPECT_EQ(compared.size(), 13U);
}

TEST(Blocks, CodesInGroupsAreTheirDifferenceFromTheZeroPointTimesTheScale) {
  std::set<std::string_view> names;
  for (const int bits : {4, 8})
    for (const int elements : {32, 64, 128, 256})
      for (const float zero : {static_cast<float>(middle_code(bits)), 0.0F, 11.0F, 7.3F}) {
        const bool has_minimum = zero != static_cast<float>(middle_code(bits));
        const BlockFormat& format = *grouped_codes(bits, elements, has_minimum);
        SCOPED_TRACE(std::string(format.name) + ", zero " + std::to_string(zero));
        names.insert(format.name);
        EXPECT_EQ(block_format_named(format.name), nullptr);
        EXPECT_FALSE(block_format(format.ggml_type));
        const float scale = -0.0123456F - 0.7F / static_cast<float>(elements);
        std::vector<uint8_t> codes(static_cast<size_t>(elements));
        for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint8_t>(i * 37 % (size_t{1} << bits));
        std::vector<std::byte> block(static_cast<size_t>(format.bytes));
        std::vector<float> values(codes.size());
        ASSERT_TRUE(put_group(format, codes, scale, zero, block.data()));
        dequantize(format, block, values);
        EXPECT_EQ(linear_elements(format, block.data()), values);
        const double of_minimum =
            has_minimum ? std::abs(static_cast<double>(zero - (bits == 8 ? 128 : 0)) * static_cast<double>(scale)) : 0;
        for (size_t i = 0; i < codes.size(); ++i) {
          const double want = (codes[i] - static_cast<double>(zero)) * static_cast<double>(scale);
          EXPECT_NEAR(static_cast<double>(values[i]), want, 0x1p-24 * (std::abs(want) + of_minimum) * 1.000001) << i;
        }
      }
  EXPECT_EQ(names.size(), 16U);
  EXPECT_EQ(grouped_codes(4, 16, true), nullptr);
  EXPECT_EQ(grouped_codes(3, 32, true), nullptr);
}

TEST(Blocks, GroupsWithoutAFiniteScaleOrMinimumAreReported) {
  const std::vector<uint8_t> codes(32, 3);
  std::vector<std::byte> block(64);
  const BlockFormat& format = *grouped_codes(4, 32, true);
  EXPECT_TRUE(put_group(format, codes, 2, 0, block.data()));
  EXPECT_FALSE(put_group(format, codes, std::numeric_limits<float>::infinity(), 1, block.data()));
  EXPECT_FALSE(put_group(format, codes, 3e38F, 5, block.data()));
}

}  // namespace
}  // namespace tenon::inline base
