// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q8_0 {
namespace {

using namespace block_bits;

/// f16 scale d, 32 signed bytes: d * code.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(signed_byte_at(block + 2, i));
}

void encode(const float* values, std::byte* block) {
  float most = 0;
  for (int i = 0; i < 32; ++i) most = std::max(most, std::abs(values[i]));
  const float d = most / 127.0f, factor = inverse(d);
  put_f16(block, d);
  for (int i = 0; i < 32; ++i) block[2 + i] = static_cast<std::byte>(static_cast<int8_t>(std::round(values[i] * factor)));
}

void codes_of(const std::byte* block, int8_t* codes) { std::memcpy(codes, block + 2, 32); }

void scale_of(const std::byte* block, std::byte* scale) { copy_f16(block, scale); }

constexpr LinearBlocks kLinear{.code_bits = 8, .codes = codes_of, .scales = scale_of};

}  // namespace
}  // namespace tenon::blocks::q8_0

BLOCK_FORMAT(q8_0){
    .name = "Q8_0",
    .ggml_type = 8,
    .elements = 32,
    .bytes = 34,
    .decode = tenon::blocks::q8_0::decode,
    .encode = tenon::blocks::q8_0::encode,
    .linear = &tenon::blocks::q8_0::kLinear,
};
