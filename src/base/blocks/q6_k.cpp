// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q6_k {
namespace {

using namespace block_bits;

int code_at(const std::byte* block, int i) {
  const int low = split_nibble(block + i / 128 * 64, i % 128, 64);
  const int high = byte_at(block + 128, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
  return low | high << 4;
}

/// 128 bytes of nibbles, 64 of upper pairs, 16 signed scales for 16 elements each, f16 d.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block + 208);
  for (int i = 0; i < kSuper; ++i) {
    const float scale = d * static_cast<float>(signed_byte_at(block + 192, i / 16));
    out[i] = scale * static_cast<float>(code_at(block, i) - 32);
  }
}

void codes_of(const std::byte* block, int8_t* codes) {
  for (int i = 0; i < kSuper; ++i) codes[i] = static_cast<int8_t>(code_at(block, i));
}

void scale_of(const std::byte* block, std::byte* scale) { copy_f16(block + 208, scale); }

void integers_of(const std::byte* block, uint32_t* words) {
  for (int k = 0; k < 4; ++k) words[k] = bits32(block + 192 + 4 * k);
}

constexpr SubBlocks kSubBlocks{.elements = 16, .scale_bits = 8, .is_signed = true, .integers = integers_of};
constexpr LinearBlocks kLinear{.code_bits = 6, .offset = -32, .sub_blocks = &kSubBlocks, .codes = codes_of, .scales = scale_of};

}  // namespace
}  // namespace tenon::blocks::q6_k

BLOCK_FORMAT(q6_k){
    .name = "Q6_K",
    .ggml_type = 14,
    .elements = 256,
    .bytes = 210,
    .decode = tenon::blocks::q6_k::decode,
    .linear = &tenon::blocks::q6_k::kLinear,
};
