// SPDX-License-Identifier: Apache-2.0
#include "base/blocks/block_bits.h"
#include "base/blocks/block_format.h"

namespace tenon::blocks::mxfp4 {
namespace {

using namespace block_bits;

/// Twice the values of f4e2m1, whose scale is halved instead.
constexpr int kDoubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// Half of 2^(code - 127).
float half_scale(int code) {
  const auto bits = static_cast<uint32_t>(code);
  return std::bit_cast<float>(bits < 2 ? 0x00200000u << bits : (bits - 1) << 23);
}

/// OCP MX 1.0: a scale byte f8e8m0, 32 nibbles of f4e2m1.
void decode(const std::byte* block, float* out) {
  const float d = half_scale(byte_at(block, 0));
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(kDoubled[split_nibble(block + 1, i, 16)]);
}

/// Twice the values, in 8 bits.
void codes_of(const std::byte* block, int8_t* codes) {
  for (int i = 0; i < 32; ++i) codes[i] = static_cast<int8_t>(kDoubled[split_nibble(block + 1, i, 16)]);
}

void scale_of(const std::byte* block, std::byte* scale) {
  const float d = half_scale(byte_at(block, 0));
  std::memcpy(scale, &d, sizeof d);
}

constexpr LinearBlocks kLinear{.code_bits = 8, .scale_type = DType::f32, .codes = codes_of, .scales = scale_of};

}  // namespace
}  // namespace tenon::blocks::mxfp4

BLOCK_FORMAT(mxfp4){
    .name = "MXFP4",
    .ggml_type = 39,
    .elements = 32,
    .bytes = 17,
    .decode = tenon::blocks::mxfp4::decode,
    .linear = &tenon::blocks::mxfp4::kLinear,
};
