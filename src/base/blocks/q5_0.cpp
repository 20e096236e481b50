// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q5_0 {
namespace {

using namespace block_bits;

/// f16 scale d, 32 fifth bits, 32 nibbles: d * (code - 16).
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block);
  const uint32_t high = bits32(block + 2);
  for (int i = 0; i < 32; ++i) {
    const int code = split_nibble(block + 6, i, 16) | static_cast<int>(high >> i & 1) << 4;
    out[i] = d * static_cast<float>(code - 16);
  }
}

}  // namespace
}  // namespace tenon::blocks::q5_0

BLOCK_FORMAT(q5_0){
    .name = "Q5_0",
    .ggml_type = 6,
    .elements = 32,
    .bytes = 22,
    .decode = tenon::blocks::q5_0::decode,
};
