// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q5_k {
namespace {

using namespace block_bits;

int code_at(const std::byte* block, int i) {
  const int high = byte_at(block + 16, i % 32) >> (i / 32) & 1;
  return split_nibble(block + 48 + i / 64 * 32, i % 64, 32) | high << 4;
}

/// f16 d, f16 dmin, 12 bytes of scales and minima for 32 elements each, 32 bytes of fifth bits, 128 of nibbles.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block), dmin = f16_at(block + 2);
  for (int i = 0; i < kSuper; ++i) { out[i] = element_of(d, dmin, packed_scale(block + 4, i / 32), code_at(block, i)); }
}

void codes_of(const std::byte* block, int8_t* codes) {
  for (int i = 0; i < kSuper; ++i) codes[i] = static_cast<int8_t>(code_at(block, i));
}

void scales_of(const std::byte* block, std::byte* scales) {
  copy_f16(block, scales);
  copy_negated_f16(block + 2, scales + 2);
}

void integers_of(const std::byte* block, uint32_t* words) { packed_scales(block + 4, words); }

constexpr SubBlocks kSubBlocks{.elements = 32, .scale_bits = 8, .minimum_bits = 8, .integers = integers_of};
constexpr LinearBlocks kLinear{.code_bits = 5, .has_minimum = true, .sub_blocks = &kSubBlocks, .codes = codes_of, .scales = scales_of};

}  // namespace
}  // namespace tenon::blocks::q5_k

BLOCK_FORMAT(q5_k){
    .name = "Q5_K",
    .ggml_type = 13,
    .elements = 256,
    .bytes = 176,
    .decode = tenon::blocks::q5_k::decode,
    .linear = &tenon::blocks::q5_k::kLinear,
};
