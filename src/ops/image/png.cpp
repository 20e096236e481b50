// SPDX-License-Identifier: Apache-2.0
// PNG by the simplified interface of libpng 1.6 (png.h, png_image).
#include "ops/image/pixels.h"
#include "ops/image/system_library.h"

namespace tenon::ops {

namespace png_image {
namespace {

/// png_image, version 1.
struct PngImage {
  void* opaque = nullptr;
  uint32_t version = 1, width = 0, height = 0, format = 0, flags = 0, colormap_entries = 0, warning_or_error = 0;
  char message[64] = {};
};
constexpr uint32_t kRgba = 3;

struct Functions {
  int (*begin)(PngImage* image, const void* memory, size_t size) = nullptr;
  int (*finish)(PngImage* image, const void* background, void* buffer, int32_t row_stride, void* colormap) = nullptr;
  void (*free)(PngImage* image) = nullptr;
};

const Result<Functions>& functions() {
  static const auto bound = []() -> Result<Functions> {
    Functions f;
    TRY(bind_functions({"libpng16.so.16", "libpng16-16", "PNG images"},
                       {{"png_image_begin_read_from_memory", reinterpret_cast<void**>(&f.begin)},
                        {"png_image_finish_read", reinterpret_cast<void**>(&f.finish)},
                        {"png_image_free", reinterpret_cast<void**>(&f.free)}}));
    return f;
  }();
  return bound;
}

Result<Pixels> read(const Functions& f, PngImage& image, int64_t byte_limit) {
  Pixels out = TRY(Pixels::make(image.height, image.width, byte_limit));
  image.format = kRgba;  // with three channels transparent pixels are mixed with a background
  std::vector<uint8_t> rgba(out.rgb.size() / 3 * 4);
  if (f.finish(&image, nullptr, rgba.data(), 0, nullptr) == 0) return damaged_image("PNG", image.message);
  for (size_t k = 0; k < rgba.size() / 4; ++k)
    for (size_t c = 0; c < 3; ++c) out.rgb[k * 3 + c] = rgba[k * 4 + c];
  return out;
}

}  // namespace
}  // namespace png_image

Result<Pixels> decode_png(Encoded file, int64_t byte_limit) {
  using namespace png_image;
  const Functions& f = TRY(functions());
  PngImage image;
  if (f.begin(&image, file.data(), file.size()) == 0) return damaged_image("PNG", image.message);
  auto out = read(f, image, byte_limit);
  f.free(&image);
  return out;
}

}  // namespace tenon::ops
