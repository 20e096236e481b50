// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q4_0 {
namespace {

using namespace block_bits;

/// f16 scale d; 32 nibbles: d * (code - 8).
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(split_nibble(block + 2, i, 16) - 8);
}

void encode(const float* values, std::byte* block) {
  float extreme = values[0];
  for (int i = 1; i < 32; ++i) {
    if (std::abs(values[i]) > std::abs(extreme)) extreme = values[i];
  }
  const float d = extreme / -8.0f, factor = inverse(d);
  const auto code = [&](int i) { return code_of(values[i] * factor + 8.5f, 15); };
  put_f16(block, d);
  for (int i = 0; i < 16; ++i) block[2 + i] = static_cast<std::byte>(code(i) | code(i + 16) << 4);
}

void codes_of(const std::byte* block, int8_t* codes) { nibbles(block + 2, codes); }

void scale_of(const std::byte* block, std::byte* scale) { copy_f16(block, scale); }

constexpr LinearBlocks kLinear{.code_bits = 4, .offset = -8, .codes = codes_of, .scales = scale_of};

}  // namespace
}  // namespace tenon::blocks::q4_0

BLOCK_FORMAT(q4_0){
    .name = "Q4_0",
    .ggml_type = 2,
    .elements = 32,
    .bytes = 18,
    .decode = tenon::blocks::q4_0::decode,
    .encode = tenon::blocks::q4_0::encode,
    .linear = &tenon::blocks::q4_0::kLinear,
};
