// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/grouped_codes.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/blocks/block_bits.h"

namespace tenon::inline base {
namespace {

constexpr uint32_t kNoGgmlType = UINT32_MAX;
constexpr int kFewestElements = 32;

/// By bits (4, 8), elements (32 to 256), and whether there is a minimum.
constexpr std::string_view kGroupNames[2][4][2] = {
    {{"G4_32_0", "G4_32_1"}, {"G4_64_0", "G4_64_1"}, {"G4_128_0", "G4_128_1"}, {"G4_256_0", "G4_256_1"}},
    {{"G8_32_0", "G8_32_1"}, {"G8_64_0", "G8_64_1"}, {"G8_128_0", "G8_128_1"}, {"G8_256_0", "G8_256_1"}},
};

template <int kBits, int kElements, bool kHasMinimum>
struct GroupFormat {
  static constexpr int kOffset = kBits == 4 && !kHasMinimum ? -middle_code(4) : 0;
  static constexpr int kScales = kHasMinimum ? 2 : 1, kCodesAt = 4 * kScales;

  static void codes(const std::byte* block, int8_t* out) {
    const std::byte* const from = block + kCodesAt;
    if constexpr (kBits == 8) std::memcpy(out, from, kElements);
    else
      for (int i = 0; i < kElements; ++i) out[i] = static_cast<int8_t>(block_bits::byte_at(from, i / 2) >> (i % 2 * 4) & 15);
  }

  static void scales(const std::byte* block, std::byte* out) { std::memcpy(out, block, kCodesAt); }

  static void decode(const std::byte* block, float* out) {
    const float scale = std::bit_cast<float>(block_bits::bits32(block));
    const float minimum = kHasMinimum ? std::bit_cast<float>(block_bits::bits32(block + 4)) : scale * static_cast<float>(kOffset);
    int8_t code[kElements];
    codes(block, code);
    for (int i = 0; i < kElements; ++i) out[i] = std::fma(static_cast<float>(code[i]), scale, minimum);
  }

  static constexpr LinearBlocks kLinear{
      .code_bits = kBits, .has_minimum = kHasMinimum, .offset = kOffset, .scale_type = DType::f32, .codes = codes, .scales = scales};
  static constexpr BlockFormat kFormat{
      .name = kGroupNames[kBits / 8][std::countr_zero(unsigned{kElements / kFewestElements})][kHasMinimum],
      .ggml_type = kNoGgmlType,
      .elements = kElements,
      .bytes = kCodesAt + kElements * kBits / 8,
      .decode = decode,
      .linear = &kLinear,
  };
};

template <int kBits, bool kHasMinimum>
constexpr const BlockFormat* kGroups[] = {&GroupFormat<kBits, 32, kHasMinimum>::kFormat, &GroupFormat<kBits, 64, kHasMinimum>::kFormat,
                                          &GroupFormat<kBits, 128, kHasMinimum>::kFormat, &GroupFormat<kBits, 256, kHasMinimum>::kFormat};

/// Of one of these formats: whether a block begins with two f32.
bool stores_minimum(const BlockFormat& format, int code_bits) { return format.bytes != 4 + format.elements * code_bits / 8; }

}  // namespace

const BlockFormat* grouped_codes(int code_bits, int elements, bool has_minimum) {
  if (code_bits != 4 && code_bits != 8) return nullptr;
  for (int k = 0; k < 4; ++k)
    if (elements == kFewestElements << k)
      return code_bits == 4 ? (has_minimum ? kGroups<4, true> : kGroups<4, false>)[k]
                            : (has_minimum ? kGroups<8, true> : kGroups<8, false>)[k];
  return nullptr;
}

bool put_group(const BlockFormat& format, std::span<const uint8_t> codes, float scale, float zero, std::byte* block) {
  TENON_ASSERT(format.ggml_type == kNoGgmlType && codes.size() == static_cast<size_t>(format.elements));
  const int bits = format.bytes < format.elements ? 4 : 8, middle = middle_code(bits);
  const auto put = [&](float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    for (int k = 0; k < 4; ++k) *block++ = static_cast<std::byte>(word >> (8 * k) & 0xff);
  };
  put(scale);
  // Codes of 8 bits are stored as code - 128. The difference of an integer zero point is exact, so that the product alone is rounded.
  const double from = static_cast<double>(zero) - (bits == 8 ? middle : 0);
  const auto minimum = static_cast<float>(-(from * static_cast<double>(scale)));
  if (stores_minimum(format, bits)) put(minimum);
  else TENON_ASSERT(zero == static_cast<float>(middle));
  if (bits == 8)
    for (size_t i = 0; i < codes.size(); ++i) block[i] = static_cast<std::byte>(codes[i] ^ 0x80);
  else
    for (size_t i = 0; i < codes.size() / 2; ++i) block[i] = static_cast<std::byte>(codes[2 * i] | codes[2 * i + 1] << 4);
  return std::isfinite(scale) && std::isfinite(minimum);
}

}  // namespace tenon::inline base
