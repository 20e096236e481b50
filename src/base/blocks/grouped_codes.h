// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/blocks/block_format.h"

namespace tenon::inline base {

/// Blocks of codes in groups, as AWQ, GPTQ and the block-wise quantization of ONNX have them. No GGUF file names these formats: they are
/// not among block_formats(), and `ggml_type` is a number that ggml gives no type. A block is an f32 scale, the f32 minimum where there is
/// one, and the codes; an element is fma(code, scale, minimum) in f32. Codes of 4 bits are 0 to 15, two a byte, the first in the lower
/// bits; without a minimum an element is (code - 8) * scale. Codes of 8 bits are -128 to 127; without a minimum an element is code * scale.
/// code_bits: 4 or 8. elements: 32, 64, 128 or 256. nullptr: there is no such format.
const BlockFormat* grouped_codes(int code_bits, int elements, bool has_minimum);

/// What codes of that many bits are counted from where a format has no minimum: 8 or 128.
constexpr int middle_code(int code_bits) { return 1 << (code_bits - 1); }

/// Writes one block of one of these formats: (code - zero) * scale, but for one rounding of the minimum to f32. codes: as many as the block
/// has elements (asserted), 0 to 2^code_bits - 1. zero: middle_code() where the format has no minimum (asserted). Returns whether scale and
/// minimum are finite.
bool put_group(const BlockFormat& format, std::span<const uint8_t> codes, float scale, float zero, std::byte* block);

}  // namespace tenon::inline base
