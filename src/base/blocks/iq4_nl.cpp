// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::iq4_nl {
namespace {

using namespace block_bits;

/// f16 scale d; 32 nibbles: d * kNonLinear[code].
void decode(const std::byte* block, float* out) {
  const float d = f16_at(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(kNonLinear[split_nibble(block + 2, i, 16)]);
}

/// The values, in 8 bits.
void codes_of(const std::byte* block, int8_t* codes) {
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<int8_t>(kNonLinear[split_nibble(block + 2, i, 16)]);
}

void scale_of(const std::byte* block, std::byte* scale) { copy_f16(block, scale); }

constexpr LinearBlocks kLinear{.code_bits = 8, .codes = codes_of, .scales = scale_of};

}  // namespace
}  // namespace tenon::blocks::iq4_nl

BLOCK_FORMAT(iq4_nl){
    .name = "IQ4_NL",
    .ggml_type = 20,
    .elements = 32,
    .bytes = 18,
    .decode = tenon::blocks::iq4_nl::decode,
    .linear = &tenon::blocks::iq4_nl::kLinear,
};
