// SPDX-License-Identifier: Apache-2.0
// JPEG 2000 by OpenJPEG, version 2 (openjpeg.h).
#include <algorithm>
#include <cstring>
#include <memory>

#include "ops/image/pixels.h"
#include "ops/image/system_library.h"

namespace tenon::ops {

namespace jpeg2000_image {
namespace {

struct Codec;
struct Stream;

struct Component {
  uint32_t dx, dy, width, height, x0, y0, bits, bpp, is_signed, resolution, factor;
  int32_t* data;
  uint16_t alpha;
};

struct Image {
  uint32_t x0, y0, x1, y1, count;
  int colours;
  Component* components;
};
constexpr int kYcc = 3;  // a colour space

/// Space for opj_dparameters_t, which is smaller.
struct alignas(16) Parameters {
  unsigned char bytes[16384] = {};
};

struct Functions {
  Codec* (*create)(int format) = nullptr;
  void (*defaults)(Parameters*) = nullptr;
  int (*setup)(Codec*, Parameters*) = nullptr;
  void (*destroy_codec)(Codec*) = nullptr;
  Stream* (*stream)(size_t buffer, int is_input) = nullptr;
  void (*set_read)(Stream*, size_t (*)(void*, size_t, void*)) = nullptr;
  void (*set_skip)(Stream*, int64_t (*)(int64_t, void*)) = nullptr;
  void (*set_seek)(Stream*, int (*)(int64_t, void*)) = nullptr;
  void (*set_data)(Stream*, void*, void (*)(void*)) = nullptr;
  void (*set_length)(Stream*, uint64_t) = nullptr;
  void (*destroy_stream)(Stream*) = nullptr;
  int (*header)(Stream*, Codec*, Image**) = nullptr;
  int (*decode)(Codec*, Stream*, Image*) = nullptr;
  void (*destroy_image)(Image*) = nullptr;
};

const Result<Functions>& functions() {
  static const auto bound = []() -> Result<Functions> {
    Functions f;
    TRY(bind_functions({"libopenjp2.so.7", "libopenjp2-7", "JPEG 2000 images"},
                       {{"opj_create_decompress", reinterpret_cast<void**>(&f.create)},
                        {"opj_set_default_decoder_parameters", reinterpret_cast<void**>(&f.defaults)},
                        {"opj_setup_decoder", reinterpret_cast<void**>(&f.setup)},
                        {"opj_destroy_codec", reinterpret_cast<void**>(&f.destroy_codec)},
                        {"opj_stream_create", reinterpret_cast<void**>(&f.stream)},
                        {"opj_stream_set_read_function", reinterpret_cast<void**>(&f.set_read)},
                        {"opj_stream_set_skip_function", reinterpret_cast<void**>(&f.set_skip)},
                        {"opj_stream_set_seek_function", reinterpret_cast<void**>(&f.set_seek)},
                        {"opj_stream_set_user_data", reinterpret_cast<void**>(&f.set_data)},
                        {"opj_stream_set_user_data_length", reinterpret_cast<void**>(&f.set_length)},
                        {"opj_stream_destroy", reinterpret_cast<void**>(&f.destroy_stream)},
                        {"opj_read_header", reinterpret_cast<void**>(&f.header)},
                        {"opj_decode", reinterpret_cast<void**>(&f.decode)},
                        {"opj_image_destroy", reinterpret_cast<void**>(&f.destroy_image)}}));
    return f;
  }();
  return bound;
}

struct InputFile {
  Encoded file;
  size_t at = 0;
};

size_t read_bytes(void* to, size_t count, void* source) {
  InputFile& s = *static_cast<InputFile*>(source);
  const size_t part = std::min(count, s.file.size() - s.at);
  if (part == 0) return static_cast<size_t>(-1);  // the end
  std::memcpy(to, s.file.data() + s.at, part);
  s.at += part;
  return part;
}

int64_t skip(int64_t count, void* source) {
  InputFile& s = *static_cast<InputFile*>(source);
  if (count < 0 || static_cast<uint64_t>(count) > s.file.size() - s.at) return -1;
  s.at += static_cast<size_t>(count);
  return count;
}

int seek(int64_t offset, void* source) {
  InputFile& s = *static_cast<InputFile*>(source);
  if (offset < 0 || static_cast<uint64_t>(offset) > s.file.size()) return 0;
  s.at = static_cast<size_t>(offset);
  return 1;
}

void free_nothing(void*) {}

/// The objects of OpenJPEG that a decoding owns; freed by the destructor.
struct Decoding {
  const Functions& f;
  Codec* codec = nullptr;
  Stream* stream = nullptr;
  Image* image = nullptr;
  ~Decoding() {
    if (image != nullptr) f.destroy_image(image);
    if (stream != nullptr) f.destroy_stream(stream);
    if (codec != nullptr) f.destroy_codec(codec);
  }
};

/// A sample converted to 8 bits.
uint8_t byte_of(const Component& c, size_t at) {
  int64_t value = c.data[at];
  if (c.is_signed != 0) value += int64_t{1} << (c.bits - 1);
  value = c.bits > 8 ? value >> (c.bits - 8) : c.bits < 8 ? value * 255 / ((int64_t{1} << c.bits) - 1) : value;
  return static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255));
}

Result<Pixels> pixels_of(const Image& image, int64_t byte_limit) {
  if (image.count < 1 || image.colours == kYcc)
    return fail(Code::not_supported, "image", "not supported yet: a JPEG 2000 image of these colours")
        .expected("grey or RGB")
        .found("YCC or none");
  const Component& first = image.components[0];
  Pixels out = TRY(Pixels::make(first.height, first.width, byte_limit));
  const uint32_t colours = image.count < 3 ? 1 : 3;
  for (uint32_t c = 0; c < colours; ++c) {
    const Component& of = image.components[c];
    if (of.data == nullptr || of.bits < 1 || of.bits > 31 || of.width != first.width || of.height != first.height)
      return fail(Code::not_supported, "image", "not supported yet: a JPEG 2000 image whose components have different sizes")
          .expected("components of one size, of 1 to 31 bits")
          .found("others");
  }
  for (size_t k = 0; k < out.rgb.size(); ++k) out.rgb[k] = byte_of(image.components[colours == 1 ? 0 : k % 3], k / 3);
  return out;
}

}  // namespace
}  // namespace jpeg2000_image

Result<Pixels> decode_jpeg2000(Encoded file, int64_t byte_limit) {
  using namespace jpeg2000_image;
  const Functions& f = TRY(functions());
  constexpr int kCodestream = 0, kJp2 = 2;
  constexpr size_t kBuffer = size_t{1} << 20;
  const bool is_codestream = file.size() > 1 && file[0] == 0xFF;
  InputFile source{file};
  Decoding d{f};
  d.codec = f.create(is_codestream ? kCodestream : kJp2);
  d.stream = f.stream(kBuffer, 1);
  if (d.codec == nullptr || d.stream == nullptr) return fail(Code::out_of_memory, "image", "no memory for a decoder");
  const auto parameters = std::make_unique<Parameters>();
  f.defaults(parameters.get());
  f.set_read(d.stream, read_bytes);
  f.set_skip(d.stream, skip);
  f.set_seek(d.stream, seek);
  f.set_data(d.stream, &source, free_nothing);
  f.set_length(d.stream, file.size());
  if (f.setup(d.codec, parameters.get()) == 0 || f.header(d.stream, d.codec, &d.image) == 0)
    return damaged_image("JPEG 2000", "no header that OpenJPEG reads");
  TRY(Pixels::make(int64_t{d.image->y1} - d.image->y0, int64_t{d.image->x1} - d.image->x0, byte_limit));  // before it takes memory
  if (f.decode(d.codec, d.stream, d.image) == 0) return damaged_image("JPEG 2000", "data that OpenJPEG does not decode");
  return pixels_of(*d.image, byte_limit);
}

}  // namespace tenon::ops
