// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q2_k {
namespace {

using namespace block_bits;

int code_at(const std::byte* block, int i) { return byte_at(block + 16, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3; }

/// 16 bytes of scale and minimum (4 bits each) for 16 elements, 64 bytes of 2-bit codes, f16 d, f16 dmin.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block + 80), dmin = f16_at(block + 82);
  for (int i = 0; i < kSuper; ++i) {
    const int scales = byte_at(block, i / 16);
    const float scale = d * static_cast<float>(scales & 15), minimum = dmin * static_cast<float>(scales >> 4);
    const float scaled = scale * static_cast<float>(code_at(block, i));
    out[i] = scaled - minimum;
  }
}

void codes_of(const std::byte* block, int8_t* codes) {
  for (int i = 0; i < kSuper; ++i) codes[i] = static_cast<int8_t>(code_at(block, i));
}

void scales_of(const std::byte* block, std::byte* scales) {
  copy_f16(block + 80, scales);
  copy_negated_f16(block + 82, scales + 2);
}

void integers_of(const std::byte* block, uint32_t* words) {
  for (int k = 0; k < 4; ++k) words[k] = bits32(block + 4 * k);
}

constexpr SubBlocks kSubBlocks{.elements = 16, .scale_bits = 4, .minimum_bits = 4, .integers = integers_of};
constexpr LinearBlocks kLinear{.code_bits = 2, .has_minimum = true, .sub_blocks = &kSubBlocks, .codes = codes_of, .scales = scales_of};

}  // namespace
}  // namespace tenon::blocks::q2_k

BLOCK_FORMAT(q2_k){
    .name = "Q2_K",
    .ggml_type = 10,
    .elements = 256,
    .bytes = 84,
    .decode = tenon::blocks::q2_k::decode,
    .linear = &tenon::blocks::q2_k::kLinear,
};
