// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::inline base {

/// A way to store numbers in blocks of equal size: codes with a scale, and maybe a minimum, of each block; of plain numbers a block is one.
/// Layouts are those of ggml (https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h), little-endian.
struct BlockFormat {
  std::string_view name;  ///< "Q4_1"
  uint32_t number = 0;    ///< ggml's
  int elements = 1;       ///< of a block
  int bytes = 0;          ///< of a block
  /// One block to f32, each operation rounded as ggml's reference does it. Null: not supported yet.
  void (*decode)(const std::byte* block, float* out) = nullptr;
};

/// All of ggml's formats, in the order of their numbers.
std::span<const BlockFormat> block_formats();
/// Null where no format has that number.
const BlockFormat* block_format(uint32_t number);

/// Blocks to f32. `out` has format.elements numbers for each block of `blocks`; `format` has a decoder (asserted).
void decode_blocks(const BlockFormat& format, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace tenon::inline base
