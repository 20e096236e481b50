// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q6_k {
namespace {

using namespace block_bits;

/// 128 bytes of nibbles, 64 of upper pairs, 16 signed scales for 16 elements each, f16 d.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block + 208);
  for (int i = 0; i < kSuper; ++i) {
    const int low = split_nibble(block + i / 128 * 64, i % 128, 64);
    const int high = byte_at(block + 128, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
    const float scale = d * static_cast<float>(signed_byte_at(block + 192, i / 16));
    out[i] = scale * static_cast<float>((low | high << 4) - 32);
  }
}

}  // namespace
}  // namespace tenon::blocks::q6_k

BLOCK_FORMAT(q6_k){
    .name = "Q6_K",
    .ggml_type = 14,
    .elements = 256,
    .bytes = 210,
    .decode = tenon::blocks::q6_k::decode,
};
