// SPDX-License-Identifier: Apache-2.0
// Plain numbers, and blocks of 32: the lower four bits of byte j are element j, the upper ones element j + 16.
#include <bit>

#include "base/blocks/decoders.h"

namespace tenon::inline base::blocks {
namespace {

constexpr int kHalf = 16;  // elements of half a block

/// Five-bit codes: four bits of each in `low`, the fifth in bit j of `high`.
int five_bits(const std::byte* low, uint32_t high, int j) {
  const int four = j < kHalf ? byte_at(low + j) & 15 : byte_at(low + j - kHalf) >> 4;
  return four | static_cast<int>((high >> j) & 1) << 4;
}

int four_bits(const std::byte* codes, int j) { return j < kHalf ? byte_at(codes + j) & 15 : byte_at(codes + j - kHalf) >> 4; }

}  // namespace

float half_at(const std::byte* at) { return static_cast<float>(number_at<_Float16>(at)); }

void decode_f32(const std::byte* block, float* out) { *out = number_at<float>(block); }
void decode_f16(const std::byte* block, float* out) { *out = half_at(block); }
void decode_bf16(const std::byte* block, float* out) { *out = std::bit_cast<float>(uint32_t{number_at<uint16_t>(block)} << 16); }

void decode_q4_0(const std::byte* block, float* out) {
  const float d = half_at(block);
  for (int j = 0; j < 2 * kHalf; ++j) out[j] = d * static_cast<float>(four_bits(block + 2, j) - 8);
}

void decode_q4_1(const std::byte* block, float* out) {
  const float d = half_at(block), least = half_at(block + 2);
  for (int j = 0; j < 2 * kHalf; ++j) {
    const float product = d * static_cast<float>(four_bits(block + 4, j));
    out[j] = product + least;
  }
}

void decode_q5_0(const std::byte* block, float* out) {
  const float d = half_at(block);
  const uint32_t high = number_at<uint32_t>(block + 2);
  for (int j = 0; j < 2 * kHalf; ++j) out[j] = d * static_cast<float>(five_bits(block + 6, high, j) - 16);
}

void decode_q5_1(const std::byte* block, float* out) {
  const float d = half_at(block), least = half_at(block + 2);
  const uint32_t high = number_at<uint32_t>(block + 4);
  for (int j = 0; j < 2 * kHalf; ++j) {
    const float product = d * static_cast<float>(five_bits(block + 8, high, j));
    out[j] = product + least;
  }
}

void decode_q8_0(const std::byte* block, float* out) {
  const float d = half_at(block);
  for (int j = 0; j < 2 * kHalf; ++j) out[j] = d * static_cast<float>(number_at<int8_t>(block + 2 + j));
}

void decode_iq4_nl(const std::byte* block, float* out) {
  const float d = half_at(block);
  for (int j = 0; j < 2 * kHalf; ++j) out[j] = d * static_cast<float>(kIq4Levels[four_bits(block + 2, j)]);
}

/// OCP Microscaling Formats 1.0: FP4 (E2M1) with a power of two. Codes are doubled here, the scale is halved.
void decode_mxfp4(const std::byte* block, float* out) {
  constexpr int8_t kTwice[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  const auto e = static_cast<uint32_t>(byte_at(block));
  const float d = std::bit_cast<float>(e < 2 ? uint32_t{0x00200000} << e : (e - 1) << 23);
  for (int j = 0; j < 2 * kHalf; ++j) out[j] = d * static_cast<float>(kTwice[four_bits(block + 1, j)]);
}

}  // namespace tenon::inline base::blocks
