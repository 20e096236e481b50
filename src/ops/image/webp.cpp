// SPDX-License-Identifier: Apache-2.0
// WebP by libwebp (webp/decode.h).
#include <algorithm>

#include "ops/image/pixels.h"
#include "ops/image/system_library.h"

namespace tenon::ops {

namespace webp_image {
namespace {

struct Functions {
  int (*info)(const uint8_t* data, size_t size, int* width, int* height) = nullptr;
  uint8_t* (*decode_into)(const uint8_t* data, size_t size, uint8_t* output, size_t output_size, int stride) = nullptr;
};

const Result<Functions>& functions() {
  static const auto bound = []() -> Result<Functions> {
    Functions f;
    TRY(bind_functions({"libwebp.so.7", "libwebp7", "WebP images"}, {{"WebPGetInfo", reinterpret_cast<void**>(&f.info)},
                                                                     {"WebPDecodeRGBInto", reinterpret_cast<void**>(&f.decode_into)}}));
    return f;
  }();
  return bound;
}

}  // namespace
}  // namespace webp_image

Result<Pixels> decode_webp(Encoded file, int64_t byte_limit) {
  using namespace webp_image;
  const Functions& f = TRY(functions());
  int width = 0, height = 0;
  if (f.info(file.data(), file.size(), &width, &height) == 0) return damaged_image("WebP", "no header that libwebp reads");
  Pixels out = TRY(Pixels::make(height, width, byte_limit));
  if (f.decode_into(file.data(), file.size(), out.rgb.data(), out.rgb.size(), width * 3) == nullptr)
    return damaged_image("WebP", "data that libwebp does not decode");
  return out;
}

}  // namespace tenon::ops
