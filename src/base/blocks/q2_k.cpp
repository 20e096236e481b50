// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q2_k {
namespace {

using namespace block_bits;

/// 16 bytes of scale and minimum (4 bits each) for 16 elements, 64 bytes of 2-bit codes, f16 d, f16 dmin.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block + 80), dmin = f16_at(block + 82);
  for (int i = 0; i < kSuper; ++i) {
    const int scales = byte_at(block, i / 16);
    const int code = byte_at(block + 16, i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
    const float scale = d * static_cast<float>(scales & 15), minimum = dmin * static_cast<float>(scales >> 4);
    const float scaled = scale * static_cast<float>(code);
    out[i] = scaled - minimum;
  }
}

}  // namespace
}  // namespace tenon::blocks::q2_k

BLOCK_FORMAT(q2_k){
    .name = "Q2_K",
    .ggml_type = 10,
    .elements = 256,
    .bytes = 84,
    .decode = tenon::blocks::q2_k::decode,
};
