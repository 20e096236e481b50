// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q5_0 {
namespace {

using namespace block_bits;

int code_at(const std::byte* block, int i) { return split_nibble(block + 6, i, 16) | static_cast<int>(bits32(block + 2) >> i & 1) << 4; }

/// f16 scale d, 32 fifth bits, 32 nibbles: d * (code - 16).
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block);
  for (int i = 0; i < 32; ++i) { out[i] = d * static_cast<float>(code_at(block, i) - 16); }
}

void codes_of(const std::byte* block, int8_t* codes) {
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<int8_t>(code_at(block, i));
}

void scale_of(const std::byte* block, std::byte* scale) { copy_f16(block, scale); }

constexpr LinearBlocks kLinear{.code_bits = 5, .offset = -16, .codes = codes_of, .scales = scale_of};

}  // namespace
}  // namespace tenon::blocks::q5_0

BLOCK_FORMAT(q5_0){
    .name = "Q5_0",
    .ggml_type = 6,
    .elements = 32,
    .bytes = 22,
    .decode = tenon::blocks::q5_0::decode,
    .linear = &tenon::blocks::q5_0::kLinear,
};
