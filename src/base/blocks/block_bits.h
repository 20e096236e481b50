// SPDX-License-Identifier: Apache-2.0
/// Parts that several block formats share.
#pragma once
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/dtype.h"

namespace tenon::inline base::block_bits {

inline constexpr int kSuper = 256;  ///< elements of a block of the K formats

inline int byte_at(const std::byte* p, int i) { return std::to_integer<int>(p[i]); }
inline int signed_byte_at(const std::byte* p, int i) { return static_cast<int8_t>(std::to_integer<uint8_t>(p[i])); }
/// Nibble `i` of a row whose first `half` elements are low nibbles and whose others are the high ones of the same bytes.
inline int split_nibble(const std::byte* p, int i, int half) { return i < half ? byte_at(p, i) & 15 : byte_at(p, i - half) >> 4; }
inline uint32_t bits16(const std::byte* p) { return static_cast<uint32_t>(byte_at(p, 0) | byte_at(p, 1) << 8); }
/// 32 codes of 4 bits: the low nibbles of 16 bytes, then the high ones.
inline void nibbles(const std::byte* p, int8_t* codes) {
  for (int i = 0; i < 16; ++i) codes[i] = static_cast<int8_t>(byte_at(p, i) & 15);
  for (int i = 0; i < 16; ++i) codes[16 + i] = static_cast<int8_t>(byte_at(p, i) >> 4);
}
inline uint32_t bits32(const std::byte* p) { return bits16(p) | bits16(p + 2) << 16; }

/// The value of an f16, exact.
inline float f16_at(const std::byte* p) {
  const uint32_t bits = bits16(p), magnitude = bits & 0x7fff, sign = (bits & 0x8000) << 16;
  if (magnitude < 0x400) return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f) | sign);
  if (magnitude >= 0x7c00) return std::bit_cast<float>(0x7f800000 | (magnitude & 0x3ff) << 13 | sign);
  return std::bit_cast<float>(((magnitude << 13) + (112u << 23)) | sign);
}
/// Rounds to nearest even.
inline void put_f16(std::byte* p, float value) {
  const auto bits = static_cast<uint16_t>(encode_float(DType::f16, static_cast<double>(value)));
  p[0] = static_cast<std::byte>(bits & 0xff);
  p[1] = static_cast<std::byte>(bits >> 8);
}
/// 1/d; 0 for a d so small that no f16 but 0 holds it.
inline float inverse(float d) {
  const float inverse = 1.0f / d;
  return d == 0 || !std::isfinite(inverse) ? 0.0f : inverse;
}
/// Truncated and brought to 0..most; NaN gives 0.
inline int code_of(float scaled, int most) {
  if (!(scaled >= 0)) return 0;
  return scaled >= static_cast<float>(most) ? most : static_cast<int>(scaled);
}

/// An f16 of a block as LinearBlocks::scales writes it.
inline void copy_f16(const std::byte* from, std::byte* to) { std::memcpy(to, from, 2); }
inline void copy_negated_f16(const std::byte* from, std::byte* to) {
  to[0] = from[0];
  to[1] = from[1] ^ std::byte{0x80};
}

struct ScaleAndMinimum {
  int scale, minimum;
};
/// Of Q4_K and Q5_K: eight pairs of 6 bits in 12 bytes, k in 0..7.
inline ScaleAndMinimum packed_scale(const std::byte* p, int k) {
  if (k < 4) return {byte_at(p, k) & 63, byte_at(p, k + 4) & 63};
  const int low = byte_at(p, k + 4);
  return {(low & 15) | (byte_at(p, k - 4) >> 6 << 4), (low >> 4) | (byte_at(p, k) >> 6 << 4)};
}

/// SubBlocks::integers of Q4_K and Q5_K, from their 12 bytes.
inline void packed_scales(const std::byte* p, uint32_t* words) {
  for (int k = 0; k < 8; k += 2) {
    const ScaleAndMinimum even = packed_scale(p, k), odd = packed_scale(p, k + 1);
    words[k / 2] = static_cast<uint32_t>(even.scale | even.minimum << 8 | odd.scale << 16 | odd.minimum << 24);
  }
}

/// Element of Q4_K and Q5_K: d * scale * code - dmin * minimum, each operation rounded by itself.
inline float element_of(float d, float dmin, ScaleAndMinimum s, int code) {
  const float step = d * static_cast<float>(s.scale), low = dmin * static_cast<float>(s.minimum);
  const float scaled = step * static_cast<float>(code);
  return scaled - low;
}

/// The 16 values of IQ4_NL and IQ4_XS.
inline constexpr int kNonLinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

}  // namespace tenon::inline base::block_bits
