// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/result.h"

namespace tenon::inline base {

/// Equal parts of a block, each with an integer that multiplies the block's scale and, in some formats, one that multiplies its minimum.
struct SubBlocks {
  int elements;            ///< of a sub-block: a multiple of 8 that divides the block
  int scale_bits;          ///< 4 or 8
  bool is_signed = false;  ///< the scale, in two's complement
  int minimum_bits = 0;    ///< 0 (there is none) or scale_bits; never negative
  /// Of a block: `scale_bits + minimum_bits` bits for each sub-block, the scale in the lower ones, the first sub-block in the lowest.
  void (*integers)(const std::byte* block, uint32_t* words);

  int bits() const { return scale_bits + minimum_bits; }
};

/// Blocks whose elements are fma(code, scale, minimum) in f32, with the bits that `decode` gives: products can unpack them in registers.
struct LinearBlocks {
  static constexpr int kMostElements = 256;
  static constexpr int kMostScales = 16;
  static constexpr int kMostWords = kMostElements / 32 * 6 + 8;  ///< of codes and integers

  int code_bits;  ///< 2 to 6: codes are 0 to 2^code_bits - 1; 8: -128 to 127
  /// The minimum is stored beside the scale; else it is `offset` times the scale, exact in f32.
  bool has_minimum = false;
  int offset = 0;
  DType scale_type = DType::f16;  ///< f16 or f32, of minima too
  int scale_elements = 0;         ///< how many elements share a stored scale, a multiple of 32; 0: the block
  /// A sub-block's scale is its integer times the stored one, its minimum likewise; both products are exact in f32. Not with 8-bit codes.
  const SubBlocks* sub_blocks = nullptr;
  /// The codes of a block, in the order of its elements.
  void (*codes)(const std::byte* block, int8_t* codes);
  /// The stored scales of a block, in `scale_type`; each is followed by its minimum where one is stored.
  void (*scales)(const std::byte* block, std::byte* scales);
};

/// How checkpoints of language models store elements: in blocks of codes with a scale and sometimes a minimum. One file in this folder
/// adds a format: BLOCK_FORMAT(name) { ... } in NAME.cpp is found by the build.
/// Source of layouts and numbers: ggml (ggml-common.h, ggml-quants.c); of the order of roundings: PyPI `gguf`, gguf.quants.
struct BlockFormat {
  std::string_view name;  ///< "Q4_1", as ggml prints it
  uint32_t ggml_type;     ///< the number in a GGUF file
  int elements;           ///< of a block
  int bytes;              ///< of a block
  /// One block to f32. Neither pointer needs alignment beyond that of float for `out`.
  void (*decode)(const std::byte* block, float* out);
  /// One block from finite f32; nullptr where Tenon does not write the format.
  void (*encode)(const float* values, std::byte* block) = nullptr;
  /// nullptr: products read such elements decoded.
  const LinearBlocks* linear = nullptr;
};

/// All of them, by file name.
std::span<const BlockFormat* const> block_formats();
/// Errors: not_supported, naming the format and the nearest one that is supported.
Result<const BlockFormat*> block_format(uint32_t ggml_type);
/// nullptr where none has the name.
const BlockFormat* block_format_named(std::string_view name);

/// Bytes of `elements` elements, a multiple of the block's. nullopt: no multiple, or an overflow.
std::optional<uint64_t> block_bytes(const BlockFormat& format, uint64_t elements);

/// Bit-equal to gguf.quants.dequantize, NaN aside. blocks: n blocks; out: n * format.elements floats (asserted).
void dequantize(const BlockFormat& format, std::span<const std::byte> blocks, std::span<float> out);

/// Writes n blocks (asserted: values are n * format.elements, blocks n * format.bytes) and returns the root mean square of the errors.
/// Errors: not_supported (formats without `encode`), bad_input (NaN, infinite, or too large for the scale's f16), naming the first index.
Result<double> quantize(const BlockFormat& format, std::span<const float> values, std::span<std::byte> blocks);

}  // namespace tenon::inline base

#define BLOCK_FORMAT(IDENT)                                     \
  extern const ::tenon::base::BlockFormat block_format_##IDENT; \
  constinit const ::tenon::base::BlockFormat block_format_##IDENT
