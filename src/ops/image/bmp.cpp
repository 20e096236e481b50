// SPDX-License-Identifier: Apache-2.0
// Device-independent bitmaps of Windows, uncompressed.
#include "ops/image/pixels.h"

namespace tenon::ops {

namespace bmp_image {
namespace {

/// Little-endian numbers; 0 after the end.
struct Header {
  Encoded file;
  uint32_t number(size_t at, size_t bytes) const {
    uint32_t out = 0;
    for (size_t k = 0; k < bytes && at + k < file.size(); ++k) out |= uint32_t{file[at + k]} << (8 * k);
    return out;
  }
};

struct Layout {
  int64_t width = 0, height = 0;
  bool from_top = false;
  uint32_t bits = 0;
  size_t pixels = 0, palette = 0, row_bytes = 0;  ///< where they begin; bytes of a row
};

Result<Layout> layout_of(const Header& h) {
  constexpr size_t kFileHeader = 14;
  Layout out;
  const uint32_t size = h.number(kFileHeader, 4);
  if (h.file.size() < kFileHeader + 40 || size < 40) return damaged_image("BMP", "no header of 40 bytes or more");
  out.width = static_cast<int32_t>(h.number(18, 4));
  const int64_t height = static_cast<int32_t>(h.number(22, 4));
  out.from_top = height < 0;
  out.height = out.from_top ? -height : height;
  out.bits = h.number(28, 2);
  out.pixels = h.number(10, 4);
  out.palette = kFileHeader + size;
  if (const uint32_t compression = h.number(30, 4); compression != 0 || (out.bits != 8 && out.bits != 24 && out.bits != 32))
    return fail(Code::not_supported, "image", "not supported yet: a BMP image of this form")
        .expected("8, 24 or 32 bits, no compression")
        .found(std::to_string(out.bits) + " bits, compression " + std::to_string(compression));
  return out;
}

}  // namespace
}  // namespace bmp_image

Result<Pixels> decode_bmp(Encoded file, int64_t byte_limit) {
  using namespace bmp_image;
  const Header h{file};
  Layout l = TRY(layout_of(h));
  Pixels out = TRY(Pixels::make(l.height, l.width, byte_limit));
  l.row_bytes = (static_cast<size_t>(l.width) * l.bits + 31) / 32 * 4;
  if (l.pixels > file.size() || (file.size() - l.pixels) / l.row_bytes < static_cast<size_t>(l.height))
    return damaged_image("BMP", std::to_string(file.size()) + " bytes");
  for (int64_t row = 0; row < l.height; ++row) {
    const size_t begin = l.pixels + static_cast<size_t>(l.from_top ? row : l.height - 1 - row) * l.row_bytes;
    for (int64_t column = 0; column < l.width; ++column) {
      const size_t at = begin + static_cast<size_t>(column) * (l.bits / 8);
      const size_t colour = l.bits == 8 ? l.palette + size_t{file[at]} * 4 : at;  // blue, green, red
      for (size_t c = 0; c < 3; ++c) out.at(row, column)[c] = static_cast<uint8_t>(h.number(colour + 2 - c, 1));
    }
  }
  return out;
}

}  // namespace tenon::ops
