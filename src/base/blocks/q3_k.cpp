// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q3_k {
namespace {

using namespace block_bits;

/// Of 16 scales of 6 bits in 12 bytes: nibbles in the first 8, upper pairs in the last 4.
int scale_of(const std::byte* p, int k) { return (split_nibble(p, k, 8) | (byte_at(p, 8 + k % 4) >> (k / 4 * 2) & 3) << 4) - 32; }

/// 32 bytes of third bits, 64 of 2-bit codes, 12 of scales, f16 d. A third bit of 0 takes 4 off.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block + 108);
  for (int i = 0; i < kSuper; ++i) {
    const int low = byte_at(block + 32, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
    const int high = byte_at(block, i % 32) >> (i / 32) & 1;
    const float scale = d * static_cast<float>(scale_of(block + 96, i / 16));
    out[i] = scale * static_cast<float>(low - (high == 0 ? 4 : 0));
  }
}

}  // namespace
}  // namespace tenon::blocks::q3_k

BLOCK_FORMAT(q3_k){
    .name = "Q3_K",
    .ggml_type = 11,
    .elements = 256,
    .bytes = 110,
    .decode = tenon::blocks::q3_k::decode,
};
