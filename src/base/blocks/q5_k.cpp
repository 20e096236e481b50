// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q5_k {
namespace {

using namespace block_bits;

/// f16 d, f16 dmin, 12 bytes of scales and minima for 32 elements each, 32 bytes of fifth bits, 128 of nibbles.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block), dmin = f16_at(block + 2);
  for (int i = 0; i < kSuper; ++i) {
    const int high = byte_at(block + 16, i % 32) >> (i / 32) & 1;
    const int code = split_nibble(block + 48 + i / 64 * 32, i % 64, 32) | high << 4;
    out[i] = element_of(d, dmin, packed_scale(block + 4, i / 32), code);
  }
}

}  // namespace
}  // namespace tenon::blocks::q5_k

BLOCK_FORMAT(q5_k){
    .name = "Q5_K",
    .ggml_type = 13,
    .elements = 256,
    .bytes = 176,
    .decode = tenon::blocks::q5_k::decode,
};
