// SPDX-License-Identifier: Apache-2.0
// JPEG by libjpeg. Declares the structures of version 6.2 (jpeglib.h), which Debian's libjpeg62-turbo has.
#include <csetjmp>

#include "ops/image/pixels.h"
#include "ops/image/system_library.h"

namespace tenon::ops {

namespace jpeg_image {
namespace {

struct Decompress;

struct ErrorManager {
  void (*error_exit)(Decompress*) = nullptr;
  void (*emit_message)(Decompress*, int) = nullptr;
  void (*output_message)(Decompress*) = nullptr;
  void (*format_message)(Decompress*, char*) = nullptr;
  void (*reset)(Decompress*) = nullptr;
  unsigned char rest[128] = {};  ///< message code and parameters, tables of messages
};
static_assert(sizeof(ErrorManager) == 168);

/// The first fields of jpeg_decompress_struct, and space for the others.
struct Decompress {
  ErrorManager* error = nullptr;
  void *memory = nullptr, *progress = nullptr, *client = nullptr;
  int is_decompressor = 0, state = 0;
  void* source = nullptr;
  uint32_t width = 0, height = 0;
  int components = 0, colours = 0, output_colours = 0;
  uint32_t scale_numerator = 0, scale_denominator = 0;
  double gamma = 0;
  int buffered = 0, raw = 0, method = 0, fancy_upsampling = 0, block_smoothing = 0, quantize = 0, dither = 0, two_pass = 0, desired = 0,
      one_pass = 0, external = 0, two_pass_again = 0;
  uint32_t output_width = 0, output_height = 0;
  unsigned char rest[488] = {};
};
static_assert(sizeof(Decompress) == 632);
constexpr int kVersion = 62, kRgb = 2;

struct Functions {
  ErrorManager* (*standard_error)(ErrorManager*) = nullptr;
  void (*create)(Decompress*, int version, size_t size) = nullptr;
  void (*source)(Decompress*, const unsigned char*, unsigned long) = nullptr;
  int (*header)(Decompress*, int) = nullptr;
  int (*start)(Decompress*) = nullptr;
  uint32_t (*read)(Decompress*, unsigned char** rows, uint32_t count) = nullptr;
  int (*finish)(Decompress*) = nullptr;
  void (*destroy)(Decompress*) = nullptr;
};

const Result<Functions>& functions() {
  static const auto bound = []() -> Result<Functions> {
    Functions f;
    TRY(bind_functions({"libjpeg.so.62", "libjpeg62-turbo", "JPEG images"},
                       {{"jpeg_std_error", reinterpret_cast<void**>(&f.standard_error)},
                        {"jpeg_CreateDecompress", reinterpret_cast<void**>(&f.create)},
                        {"jpeg_mem_src", reinterpret_cast<void**>(&f.source)},
                        {"jpeg_read_header", reinterpret_cast<void**>(&f.header)},
                        {"jpeg_start_decompress", reinterpret_cast<void**>(&f.start)},
                        {"jpeg_read_scanlines", reinterpret_cast<void**>(&f.read)},
                        {"jpeg_finish_decompress", reinterpret_cast<void**>(&f.finish)},
                        {"jpeg_destroy_decompress", reinterpret_cast<void**>(&f.destroy)}}));
    return f;
  }();
  return bound;
}

/// libjpeg's error_exit must not return.
struct Decoding {
  ErrorManager error;  ///< first: libjpeg hands it back
  std::jmp_buf failed;
  char message[200];
  Decompress state;
};

void on_error(Decompress* state) {
  auto* decoding = reinterpret_cast<Decoding*>(state->error);
  decoding->error.format_message(state, decoding->message);
  std::longjmp(decoding->failed, 1);
}

void print_no_message(Decompress*) {}
void emit_nothing(Decompress*, int) {}

/// The frames of these functions hold no object with a destructor, which longjmp would skip.
bool read_header(const Functions& f, Decoding& d, Encoded file) {
  if (setjmp(d.failed) != 0) return false;
  f.create(&d.state, kVersion, sizeof d.state);
  f.source(&d.state, file.data(), file.size());
  f.header(&d.state, 1);
  d.state.output_colours = kRgb;
  return true;
}

bool read_rows(const Functions& f, Decoding& d, uint8_t* rgb, uint32_t width, uint32_t height) {
  if (setjmp(d.failed) != 0) return false;
  f.start(&d.state);
  if (d.state.output_width != width || d.state.output_height != height) return false;
  for (uint32_t row = 0; row < height; ++row) {
    unsigned char* at = rgb + size_t{row} * width * 3;
    if (f.read(&d.state, &at, 1) != 1) return false;
  }
  f.finish(&d.state);
  return true;
}

Result<Pixels> decode(const Functions& f, Decoding& d, Encoded file, int64_t byte_limit) {
  if (!read_header(f, d, file)) return damaged_image("JPEG", d.message);
  Pixels out = TRY(Pixels::make(d.state.height, d.state.width, byte_limit));
  if (!read_rows(f, d, out.rgb.data(), d.state.width, d.state.height)) return damaged_image("JPEG", d.message);
  return out;
}

}  // namespace
}  // namespace jpeg_image

Result<Pixels> decode_jpeg(Encoded file, int64_t byte_limit) {
  using namespace jpeg_image;
  const Functions& f = TRY(functions());
  Decoding d{};
  d.state.error = f.standard_error(&d.error);
  d.error.error_exit = on_error;
  d.error.output_message = print_no_message;
  d.error.emit_message = emit_nothing;
  auto out = decode(f, d, file, byte_limit);
  f.destroy(&d.state);
  return out;
}

}  // namespace tenon::ops
