// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q3_k {
namespace {

using namespace block_bits;

int code_at(const std::byte* block, int i) {
  const int low = byte_at(block + 32, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
  return low | (byte_at(block, i % 32) >> (i / 32) & 1) << 2;
}

/// Of 16 scales of 6 bits in 12 bytes: nibbles in the first 8, upper pairs in the last 4.
int integer_at(const std::byte* p, int k) { return (split_nibble(p, k, 8) | (byte_at(p, 8 + k % 4) >> (k / 4 * 2) & 3) << 4) - 32; }

/// 32 bytes of third bits, 64 of 2-bit codes, 12 of scales, f16 d. A third bit of 0 takes 4 off.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block + 108);
  for (int i = 0; i < kSuper; ++i) {
    const float scale = d * static_cast<float>(integer_at(block + 96, i / 16));
    out[i] = scale * static_cast<float>(code_at(block, i) - 4);
  }
}

void codes_of(const std::byte* block, int8_t* codes) {
  for (int i = 0; i < kSuper; ++i) codes[i] = static_cast<int8_t>(code_at(block, i));
}

void scale_of(const std::byte* block, std::byte* scale) { copy_f16(block + 108, scale); }

void integers_of(const std::byte* block, uint32_t* words) {
  for (int k = 0; k < 16; k += 4) {
    words[k / 4] = 0;
    for (int j = 0; j < 4; ++j) words[k / 4] |= static_cast<uint32_t>(static_cast<uint8_t>(integer_at(block + 96, k + j))) << (8 * j);
  }
}

constexpr SubBlocks kSubBlocks{.elements = 16, .scale_bits = 8, .is_signed = true, .integers = integers_of};
constexpr LinearBlocks kLinear{.code_bits = 3, .offset = -4, .sub_blocks = &kSubBlocks, .codes = codes_of, .scales = scale_of};

}  // namespace
}  // namespace tenon::blocks::q3_k

BLOCK_FORMAT(q3_k){
    .name = "Q3_K",
    .ggml_type = 11,
    .elements = 256,
    .bytes = 110,
    .decode = tenon::blocks::q3_k::decode,
    .linear = &tenon::blocks::q3_k::kLinear,
};
