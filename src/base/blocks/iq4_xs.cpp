// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::iq4_xs {
namespace {

using namespace block_bits;

/// f16 d, 16 bits of upper pairs and 4 bytes of nibbles of eight scales, 128 bytes of nibbles.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block);
  for (int k = 0; k < 8; ++k) {
    const int low = byte_at(block + 4, k / 2) >> (k % 2 * 4) & 15;
    const int high = static_cast<int>(bits16(block + 2) >> (2 * k) & 3);
    const float scale = d * static_cast<float>((low | high << 4) - 32);
    for (int i = 0; i < 32; ++i) out[k * 32 + i] = scale * static_cast<float>(kNonLinear[split_nibble(block + 8 + k * 16, i, 16)]);
  }
}

}  // namespace
}  // namespace tenon::blocks::iq4_xs

BLOCK_FORMAT(iq4_xs){
    .name = "IQ4_XS",
    .ggml_type = 23,
    .elements = 256,
    .bytes = 136,
    .decode = tenon::blocks::iq4_xs::decode,
};
