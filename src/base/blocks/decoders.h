// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tenon::inline base::blocks {

/// Decoders of one block each; see BlockFormat::decode.
void decode_f32(const std::byte* block, float* out);
void decode_f16(const std::byte* block, float* out);
void decode_bf16(const std::byte* block, float* out);
void decode_q4_0(const std::byte* block, float* out);
void decode_q4_1(const std::byte* block, float* out);
void decode_q5_0(const std::byte* block, float* out);
void decode_q5_1(const std::byte* block, float* out);
void decode_q8_0(const std::byte* block, float* out);
void decode_iq4_nl(const std::byte* block, float* out);
void decode_mxfp4(const std::byte* block, float* out);
void decode_q2_k(const std::byte* block, float* out);
void decode_q3_k(const std::byte* block, float* out);
void decode_q4_k(const std::byte* block, float* out);
void decode_q5_k(const std::byte* block, float* out);
void decode_q6_k(const std::byte* block, float* out);
void decode_iq4_xs(const std::byte* block, float* out);

/// 16 levels that ggml's IQ4 formats choose from, in place of equal steps.
inline constexpr int8_t kIq4Levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// The f16 at that byte.
float half_at(const std::byte* at);
inline int byte_at(const std::byte* at) { return std::to_integer<int>(*at); }
template <class T>
T number_at(const std::byte* at) {
  T out;
  std::memcpy(&out, at, sizeof out);
  return out;
}

}  // namespace tenon::inline base::blocks
