// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q5_1 {
namespace {

using namespace block_bits;

/// f16 scale d, f16 minimum m, 32 fifth bits, 32 nibbles: d * code + m.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block), m = f16_at(block + 2);
  const uint32_t high = bits32(block + 4);
  for (int i = 0; i < 32; ++i) {
    const int code = split_nibble(block + 8, i, 16) | static_cast<int>(high >> i & 1) << 4;
    const float scaled = d * static_cast<float>(code);
    out[i] = scaled + m;
  }
}

}  // namespace
}  // namespace tenon::blocks::q5_1

BLOCK_FORMAT(q5_1){
    .name = "Q5_1",
    .ggml_type = 7,
    .elements = 32,
    .bytes = 24,
    .decode = tenon::blocks::q5_1::decode,
};
