// SPDX-License-Identifier: Apache-2.0
#include "ops/image/pixels.h"

#include "base/checked.h"

namespace tenon::ops {

Result<Pixels> Pixels::make(int64_t height, int64_t width, int64_t byte_limit) {
  const auto bytes = checked_count(std::vector<int64_t>{height, width, 3});
  if (height < 1 || width < 1)
    return fail(Code::bad_input, "image", "the image has no pixels")
        .expected("a height and a width of 1 or more")
        .found(std::to_string(height) + " and " + std::to_string(width));
  if (!bytes || *bytes > byte_limit)
    return fail(Code::limit_exceeded, "image", "the image is too large")
        .expected("at most " + std::to_string(byte_limit) + " bytes")
        .found(std::to_string(height) + " x " + std::to_string(width) + " pixels of 3 bytes");
  return Pixels{height, width, std::vector<uint8_t>(static_cast<size_t>(*bytes))};
}

Error damaged_image(const char* format, std::string found) {
  return fail(Code::bad_input, "image", std::string("the ") + format + " image is damaged or cut off")
      .expected(std::string("a whole ") + format + " file")
      .found(std::move(found));
}

}  // namespace tenon::ops
