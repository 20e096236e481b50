// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::q4_1 {
namespace {

using namespace block_bits;

/// f16 scale d, f16 minimum m; 32 nibbles: d * code + m.
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block), m = f16_at(block + 2);
  for (int i = 0; i < 32; ++i) {
    const float scaled = d * static_cast<float>(split_nibble(block + 4, i, 16));
    out[i] = scaled + m;
  }
}

void encode(const float* values, std::byte* block) {
  const auto [least, most] = std::minmax_element(values, values + 32);
  const float m = *least, d = (*most - m) / 15.0f, factor = inverse(d);
  const auto code = [&](int i) {
    const float scaled = (values[i] - m) * factor;
    return code_of(scaled + 0.5f, 15);
  };
  put_f16(block, d);
  put_f16(block + 2, m);
  for (int i = 0; i < 16; ++i) block[4 + i] = static_cast<std::byte>(code(i) | code(i + 16) << 4);
}

void codes_of(const std::byte* block, int8_t* codes) { nibbles(block + 4, codes); }

void scales_of(const std::byte* block, std::byte* scales) {
  copy_f16(block, scales);
  copy_f16(block + 2, scales + 2);
}

constexpr LinearBlocks kLinear{.code_bits = 4, .has_minimum = true, .codes = codes_of, .scales = scales_of};

}  // namespace
}  // namespace tenon::blocks::q4_1

BLOCK_FORMAT(q4_1){
    .name = "Q4_1",
    .ggml_type = 3,
    .elements = 32,
    .bytes = 20,
    .decode = tenon::blocks::q4_1::decode,
    .encode = tenon::blocks::q4_1::encode,
    .linear = &tenon::blocks::q4_1::kLinear,
};
