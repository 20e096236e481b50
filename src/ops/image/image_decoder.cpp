// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string_view>

#include "ops/image/pixels.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_image_decoder {

namespace {

struct Format {
  std::string_view magic;
  size_t at;  ///< offset of the magic number in the file
  Result<Pixels> (*decode)(Encoded file, int64_t byte_limit);
};

using namespace std::string_view_literals;
constexpr Format kFormats[] = {{"\xFF\xD8\xFF"sv, 0, decode_jpeg},
                               {"\x89PNG\r\n\x1A\n"sv, 0, decode_png},
                               {"WEBP"sv, 8, decode_webp},
                               {"II*\0"sv, 0, decode_tiff},
                               {"MM\0*"sv, 0, decode_tiff},
                               {"\0\0\0\x0CjP  "sv, 0, decode_jpeg2000},
                               {"\xFF\x4F\xFF\x51"sv, 0, decode_jpeg2000},
                               {"BM"sv, 0, decode_bmp}};

Result<Pixels> decode(Encoded file, int64_t byte_limit) {
  for (const Format& format : kFormats)
    if (file.size() >= format.at + format.magic.size() &&
        std::memcmp(file.data() + format.at, format.magic.data(), format.magic.size()) == 0)
      return format.decode(file, byte_limit);
  if (file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '6') return decode_pnm(file, byte_limit);
  return fail(Code::bad_input, "image", "the stream is no image of a kind that is known")
      .expected("BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP")
      .found(std::to_string(file.size()) + " bytes");
}

enum class Order : uint8_t { rgb, bgr, grey };

Result<Order> order_of(const NodeView& view) {
  const std::string name = view.attributes->text("pixel_format", "RGB");
  if (name == "RGB") return Order::rgb;
  if (name == "BGR") return Order::bgr;
  if (name == "Grayscale") return Order::grey;
  return refuse(view, Code::bad_attribute, "there is no such pixel_format").expected("RGB, BGR or Grayscale").found(name);
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, [](DType d) { return d == DType::u8; }, "u8"));
  TRY(require_rank(view, 0, 1));
  const Order order = TRY(order_of(view));
  set_output(view, 0, Type(DType::u8, DimList{view.symbols->fresh(), view.symbols->fresh(), Dim(order == Order::grey ? 1 : 3)}));
  return {};
}

/// Weights of the luma of ITU-R 601, as fractions of 2^16.
int64_t luma(const uint8_t* rgb) { return (19595 * int64_t{rgb[0]} + 38470 * int64_t{rgb[1]} + 7471 * int64_t{rgb[2]} + 0x8000) >> 16; }

Result<void> evaluate(Call& call) {
  const Tensor& stream = *call.in[0];
  const Order order = TRY(order_of(call.view));
  const Encoded file(reinterpret_cast<const uint8_t*>(stream.data()), static_cast<size_t>(stream.count()));
  auto pixels = decode(file, call.byte_limit);
  if (!pixels) return std::move(pixels).error().at(call.view.where());
  const int64_t channels = order == Order::grey ? 1 : 3;
  Tensor& out = *TRY(call.make(0, {pixels->height, pixels->width, channels}));
  for (int64_t k = 0; k < pixels->height * pixels->width; ++k) {
    const uint8_t* rgb = pixels->rgb.data() + k * 3;
    if (order == Order::grey) out.set_integer(k, luma(rgb));
    else
      for (int64_t c = 0; c < 3; ++c) out.set_integer(k * 3 + c, rgb[order == Order::bgr ? 2 - c : c]);
  }
  return {};
}

}  // namespace

/// Decodes the bytes of an image file to [height, width, channels].
OP(image_decoder) {
    .name = "ImageDecoder",
    .since_version = 20,
    .inputs = {{"encoded_stream"}},
    .outputs = {{"image"}},
    .attributes = {{"pixel_format: string = RGB"}},
    .infer = infer,
    .reference = evaluate,
    .lowest_opset = [](const NodeView&) { return 20; },
    .first_opset = 20,
    .samples = {{"u8[17] = [80,54,32,50,32,49,32,50,53,53,10, 1,2,3, 200,100,50]",
                 "u8[17] = [80,54,32,50,32,49,32,50,53,53,10, 1,2,3, 200,100,50]; pixel_format=BGR",
                 "u8[17] = [80,54,32,50,32,49,32,50,53,53,10, 1,2,3, 200,100,50]; pixel_format=Grayscale",
                 "u8[13] = [80,53,32,50,32,49,32,50,53,53,10, 7,9]", "u8[14] = [80,49,10,51,32,50,10, 49,48,49,48,49,48,10]"}},
};

}  // namespace tenon::ops::op_image_decoder
