// SPDX-License-Identifier: Apache-2.0
// Blocks of 256 elements, whose parts of 16 or 32 have scales of their own, in few bits, times that of the block.
#include "base/blocks/decoders.h"

namespace tenon::inline base::blocks {
namespace {

struct ScaleAndLeast {
  float scale, least;
};

/// Of part j of Q4_K and Q5_K: eight pairs of six bits in twelve bytes.
ScaleAndLeast six_bits(const std::byte* packed, int j, float d, float least) {
  const auto at = [&](int k) { return byte_at(packed + k); };
  if (j < 4) return {d * static_cast<float>(at(j) & 63), least * static_cast<float>(at(j + 4) & 63)};
  return {d * static_cast<float>((at(j + 4) & 15) | (at(j - 4) >> 6) << 4),
          least * static_cast<float>((at(j + 4) >> 4) | (at(j) >> 6) << 4)};
}

/// scale * code - least, each rounded.
float lowered(float scale, int code, float least) {
  const float product = scale * static_cast<float>(code);
  return product - least;
}

}  // namespace

void decode_q2_k(const std::byte* block, float* out) {
  const std::byte *const scales = block, *const codes = block + 16;
  const float d = half_at(block + 80), least = half_at(block + 82);
  for (int e = 0; e < 256; ++e) {
    const int half = e / 128, within = e % 128, shift = within / 32 * 2, scale = byte_at(scales + e / 16);
    const int code = byte_at(codes + half * 32 + within % 32) >> shift & 3;
    out[e] = lowered(d * static_cast<float>(scale & 15), code, least * static_cast<float>(scale >> 4));
  }
}

void decode_q3_k(const std::byte* block, float* out) {
  const std::byte *const high = block, *const codes = block + 32, *const scales = block + 96;
  const float d = half_at(block + 108);
  for (int e = 0; e < 256; ++e) {
    const int half = e / 128, within = e % 128, shift = within / 32 * 2, part = e / 16;
    const int low = part < 8 ? byte_at(scales + part) & 15 : byte_at(scales + part - 8) >> 4;
    const int scale = (low | (byte_at(scales + 8 + part % 4) >> (2 * (part / 4)) & 3) << 4) - 32;
    const int code = (byte_at(codes + half * 32 + within % 32) >> shift & 3) - (byte_at(high + e % 32) >> (e / 32) & 1 ? 0 : 4);
    out[e] = d * static_cast<float>(scale) * static_cast<float>(code);
  }
}

void decode_q4_k(const std::byte* block, float* out) {
  const float d = half_at(block), least = half_at(block + 2);
  for (int part = 0; part < 8; ++part) {
    const ScaleAndLeast s = six_bits(block + 4, part, d, least);
    const std::byte* const codes = block + 16 + part / 2 * 32;
    for (int l = 0; l < 32; ++l)
      out[part * 32 + l] = lowered(s.scale, part % 2 ? byte_at(codes + l) >> 4 : byte_at(codes + l) & 15, s.least);
  }
}

void decode_q5_k(const std::byte* block, float* out) {
  const float d = half_at(block), least = half_at(block + 2);
  for (int part = 0; part < 8; ++part) {
    const ScaleAndLeast s = six_bits(block + 4, part, d, least);
    const std::byte *const high = block + 16, *const codes = block + 48 + part / 2 * 32;
    for (int l = 0; l < 32; ++l) {
      const int low = part % 2 ? byte_at(codes + l) >> 4 : byte_at(codes + l) & 15;
      out[part * 32 + l] = lowered(s.scale, low | (byte_at(high + l) >> part & 1) << 4, s.least);
    }
  }
}

void decode_q6_k(const std::byte* block, float* out) {
  const std::byte *const low = block, *const high = block + 128, *const scales = block + 192;
  const float d = half_at(block + 208);
  for (int e = 0; e < 256; ++e) {
    const int half = e / 128, quarter = e % 128 / 32, l = e % 32;
    const int four = byte_at(low + half * 64 + quarter % 2 * 32 + l) >> (quarter / 2 * 4) & 15;
    const int two = byte_at(high + half * 32 + l) >> (2 * quarter) & 3;
    out[e] = d * static_cast<float>(number_at<int8_t>(scales + e / 16)) * static_cast<float>((four | two << 4) - 32);
  }
}

void decode_iq4_xs(const std::byte* block, float* out) {
  const float d = half_at(block);
  const int high = number_at<uint16_t>(block + 2);
  for (int part = 0; part < 8; ++part) {
    const int scale = (byte_at(block + 4 + part / 2) >> (4 * (part % 2)) & 15) | (high >> (2 * part) & 3) << 4;
    const float step = d * static_cast<float>(scale - 32);
    const std::byte* const codes = block + 8 + part * 16;
    for (int l = 0; l < 16; ++l) {
      out[part * 32 + l] = step * static_cast<float>(kIq4Levels[byte_at(codes + l) & 15]);
      out[part * 32 + 16 + l] = step * static_cast<float>(kIq4Levels[byte_at(codes + l) >> 4]);
    }
  }
}

}  // namespace tenon::inline base::blocks
