// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q5_1 {
namespace {

using namespace block_bits;

int code_at(const std::byte* block, int i) { return split_nibble(block + 8, i, 16) | static_cast<int>(bits32(block + 4) >> i & 1) << 4; }

/// f16 scale d, f16 minimum m, 32 fifth bits, 32 nibbles: d * code + m.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block), m = f16_at(block + 2);
  for (int i = 0; i < 32; ++i) {
    const float scaled = d * static_cast<float>(code_at(block, i));
    out[i] = scaled + m;
  }
}

void codes_of(const std::byte* block, int8_t* codes) {
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<int8_t>(code_at(block, i));
}

void scales_of(const std::byte* block, std::byte* scales) {
  copy_f16(block, scales);
  copy_f16(block + 2, scales + 2);
}

constexpr LinearBlocks kLinear{.code_bits = 5, .has_minimum = true, .codes = codes_of, .scales = scales_of};

}  // namespace
}  // namespace tenon::blocks::q5_1

BLOCK_FORMAT(q5_1){
    .name = "Q5_1",
    .ggml_type = 7,
    .elements = 32,
    .bytes = 24,
    .decode = tenon::blocks::q5_1::decode,
    .linear = &tenon::blocks::q5_1::kLinear,
};
