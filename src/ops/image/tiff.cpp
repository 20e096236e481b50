// SPDX-License-Identifier: Apache-2.0
// TIFF by libtiff (tiffio.h).
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "ops/image/pixels.h"
#include "ops/image/system_library.h"

namespace tenon::ops {

namespace tiff_image {
namespace {

struct Tiff;
using Size = int64_t;  // tmsize_t
using Read = Size (*)(void* source, void* to, Size count);
using Seek = uint64_t (*)(void* source, uint64_t offset, int whence);

struct Functions {
  Tiff* (*open)(const char* name, const char* mode, void* source, Read read, Read write, Seek seek, int (*close)(void*),
                uint64_t (*size)(void*), int (*map)(void*, void**, uint64_t*), void (*unmap)(void*, void*, uint64_t)) = nullptr;
  int (*field)(Tiff* tiff, uint32_t tag, ...) = nullptr;
  int (*read_rgba)(Tiff* tiff, uint32_t width, uint32_t height, uint32_t* raster, int orientation, int stop) = nullptr;
  void (*close)(Tiff* tiff) = nullptr;
  void* (*set_error_handler)(void* handler) = nullptr;
  void* (*set_warning_handler)(void* handler) = nullptr;
};

constexpr uint32_t kWidth = 256, kHeight = 257;  // tags
constexpr int kTopLeft = 1;

const Result<Functions>& functions() {
  static const auto bound = []() -> Result<Functions> {
    Functions f;
    TRY(bind_functions({"libtiff.so.6", "libtiff6", "TIFF images"},
                       {{"TIFFClientOpen", reinterpret_cast<void**>(&f.open)},
                        {"TIFFGetField", reinterpret_cast<void**>(&f.field)},
                        {"TIFFReadRGBAImageOriented", reinterpret_cast<void**>(&f.read_rgba)},
                        {"TIFFClose", reinterpret_cast<void**>(&f.close)},
                        {"TIFFSetErrorHandler", reinterpret_cast<void**>(&f.set_error_handler)},
                        {"TIFFSetWarningHandler", reinterpret_cast<void**>(&f.set_warning_handler)}}));
    f.set_error_handler(nullptr);  // they print
    f.set_warning_handler(nullptr);
    return f;
  }();
  return bound;
}

struct InputFile {
  Encoded file;
  uint64_t at = 0;
};

Size read_bytes(void* source, void* to, Size count) {
  InputFile& s = *static_cast<InputFile*>(source);
  const uint64_t left = s.file.size() - std::min<uint64_t>(s.at, s.file.size());
  const uint64_t part = std::min<uint64_t>(left, count > 0 ? static_cast<uint64_t>(count) : 0);
  if (part > 0) std::memcpy(to, s.file.data() + s.at, part);
  s.at += part;
  return static_cast<Size>(part);
}

Size write_nothing(void*, void*, Size) { return 0; }

uint64_t seek(void* source, uint64_t offset, int whence) {
  InputFile& s = *static_cast<InputFile*>(source);
  return s.at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? s.at + offset : s.file.size() + offset;
}

int close_nothing(void*) { return 0; }
uint64_t size_of_source(void* source) { return static_cast<InputFile*>(source)->file.size(); }

Result<Pixels> read_image(const Functions& f, Tiff* tiff, int64_t byte_limit) {
  uint32_t width = 0, height = 0;
  if (f.field(tiff, kWidth, &width) == 0 || f.field(tiff, kHeight, &height) == 0) return damaged_image("TIFF", "no width or height");
  Pixels out = TRY(Pixels::make(height, width, byte_limit));
  std::vector<uint32_t> raster(out.rgb.size() / 3);
  if (f.read_rgba(tiff, width, height, raster.data(), kTopLeft, 1) == 0) return damaged_image("TIFF", "data that libtiff does not decode");
  for (size_t k = 0; k < raster.size(); ++k)
    for (size_t c = 0; c < 3; ++c) out.rgb[k * 3 + c] = static_cast<uint8_t>(raster[k] >> (8 * c));
  return out;
}

}  // namespace
}  // namespace tiff_image

Result<Pixels> decode_tiff(Encoded file, int64_t byte_limit) {
  using namespace tiff_image;
  const Functions& f = TRY(functions());
  InputFile source{file};
  Tiff* const tiff = f.open("image", "rm", &source, read_bytes, write_nothing, seek, close_nothing, size_of_source, nullptr, nullptr);
  if (tiff == nullptr) return damaged_image("TIFF", "no header that libtiff reads");
  auto out = read_image(f, tiff, byte_limit);
  f.close(tiff);
  return out;
}

}  // namespace tenon::ops
