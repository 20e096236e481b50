// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q4_k {
namespace {

using namespace block_bits;

/// f16 d, f16 dmin, 12 bytes of scales and minima for 32 elements each, 128 bytes of nibbles.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block), dmin = f16_at(block + 2);
  for (int i = 0; i < kSuper; ++i) {
    const int code = split_nibble(block + 16 + i / 64 * 32, i % 64, 32);
    out[i] = element_of(d, dmin, packed_scale(block + 4, i / 32), code);
  }
}

}  // namespace
}  // namespace tenon::blocks::q4_k

BLOCK_FORMAT(q4_k){
    .name = "Q4_K",
    .ggml_type = 12,
    .elements = 256,
    .bytes = 144,
    .decode = tenon::blocks::q4_k::decode,
};
