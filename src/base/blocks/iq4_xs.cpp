// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::iq4_xs {
namespace {

using namespace block_bits;

float scale_at(const std::byte* block, int k) {
  const int low = byte_at(block + 4, k / 2) >> (k % 2 * 4) & 15;
  const int high = static_cast<int>(bits16(block + 2) >> (2 * k) & 3);
  return f16_at(block) * static_cast<float>((low | high << 4) - 32);
}

int value_at(const std::byte* block, int i) { return kNonLinear[split_nibble(block + 8 + i / 32 * 16, i % 32, 16)]; }

/// f16 d, 16 bits of upper pairs and 4 bytes of nibbles of eight scales, 128 bytes of nibbles.
void decode(const std::byte* block, float* out) {
  for (int i = 0; i < kSuper; ++i) out[i] = scale_at(block, i / 32) * static_cast<float>(value_at(block, i));
}

/// The values, in 8 bits.
void codes_of(const std::byte* block, int8_t* codes) {
  for (int i = 0; i < kSuper; ++i) codes[i] = static_cast<int8_t>(value_at(block, i));
}

void scales_of(const std::byte* block, std::byte* scales) {
  for (int k = 0; k < 8; ++k) {
    const float scale = scale_at(block, k);
    std::memcpy(scales + k * sizeof scale, &scale, sizeof scale);
  }
}

constexpr LinearBlocks kLinear{.code_bits = 8, .scale_type = DType::f32, .scale_elements = 32, .codes = codes_of, .scales = scales_of};

}  // namespace
}  // namespace tenon::blocks::iq4_xs

BLOCK_FORMAT(iq4_xs){
    .name = "IQ4_XS",
    .ggml_type = 23,
    .elements = 256,
    .bytes = 136,
    .decode = tenon::blocks::iq4_xs::decode,
    .linear = &tenon::blocks::iq4_xs::kLinear,
};
