// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace tenon::ops {

/// A decoded picture: rows from the top, three bytes a pixel (red, green, blue).
struct Pixels {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> rgb = {};

  /// Errors: limit_exceeded above `byte_limit`, bad_input for an empty picture, out_of_memory.
  static Result<Pixels> make(int64_t height, int64_t width, int64_t byte_limit);
  uint8_t* at(int64_t row, int64_t column) { return rgb.data() + (row * width + column) * 3; }
};

using Encoded = std::span<const uint8_t>;

/// Decoders of one kind of file each. All but BMP and PNM run in a library of the system, which is opened at its first use.
/// Transparency is dropped. Errors: not_supported where the library is missing, or the file is of a kind that the decoder does not read;
/// bad_input where it is damaged; those of Pixels::make.
Result<Pixels> decode_bmp(Encoded file, int64_t byte_limit);
Result<Pixels> decode_jpeg(Encoded file, int64_t byte_limit);
Result<Pixels> decode_jpeg2000(Encoded file, int64_t byte_limit);
Result<Pixels> decode_png(Encoded file, int64_t byte_limit);
Result<Pixels> decode_pnm(Encoded file, int64_t byte_limit);
Result<Pixels> decode_tiff(Encoded file, int64_t byte_limit);
Result<Pixels> decode_webp(Encoded file, int64_t byte_limit);

/// The error "the PNG image is damaged", with the decoder's message.
Error damaged_image(const char* format, std::string found);

}  // namespace tenon::ops
