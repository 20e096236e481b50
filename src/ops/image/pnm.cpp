// SPDX-License-Identifier: Apache-2.0
// Portable bit, grey and pixel maps (P1 to P6 of Netpbm).
#include <algorithm>
#include <cctype>
#include <optional>

#include "ops/image/pixels.h"

namespace tenon::ops {

namespace pnm_image {
namespace {

class Reader {
 public:
  explicit Reader(Encoded file) : file_(file) {}

  /// Reads a decimal number after blanks and comments; nullopt: there is none.
  std::optional<int64_t> number() {
    skip_blanks();
    if (at_ >= file_.size() || std::isdigit(file_[at_]) == 0) return std::nullopt;
    int64_t out = 0;
    while (at_ < file_.size() && std::isdigit(file_[at_]) != 0 && out < (int64_t{1} << 40)) out = out * 10 + (file_[at_++] - '0');
    return out;
  }
  /// Reads one digit of a plain bit map, where blanks between digits may be missing.
  std::optional<int64_t> digit() {
    skip_blanks();
    return at_ < file_.size() ? std::optional<int64_t>(file_[at_++] - '0') : std::nullopt;
  }
  std::optional<int64_t> bytes(int count) {
    int64_t out = 0;
    for (int k = 0; k < count; ++k) {
      if (at_ >= file_.size()) return std::nullopt;
      out = out * 256 + file_[at_++];
    }
    return out;
  }
  void skip(size_t count) { at_ = std::min(at_ + count, file_.size()); }

 private:
  void skip_blanks() {
    while (at_ < file_.size() && (std::isspace(file_[at_]) != 0 || file_[at_] == '#')) {
      if (file_[at_] == '#')
        while (at_ < file_.size() && file_[at_] != '\n') ++at_;
      else ++at_;
    }
  }
  Encoded file_;
  size_t at_ = 0;
};

/// The samples of a file, one after the other, as 8 bits.
class Samples {
 public:
  Samples(Reader& reader, int kind, int64_t most, int64_t width) : reader_(reader), kind_(kind), most_(most), width_(width) {}

  std::optional<uint8_t> next() {
    std::optional<int64_t> value;
    if (kind_ == 4) value = bit();
    else if (kind_ == 1) value = reader_.digit();
    else value = kind_ > 3 ? reader_.bytes(most_ > 255 ? 2 : 1) : reader_.number();
    if (!value) return std::nullopt;
    if (kind_ == 1 || kind_ == 4) return *value != 0 ? 0 : 255;
    return static_cast<uint8_t>((std::min(*value, most_) * 255 + most_ / 2) / most_);
  }

 private:
  /// Each row begins at a byte.
  std::optional<int64_t> bit() {
    if (column_ % 8 == 0) {
      const auto byte = reader_.bytes(1);
      if (!byte) return std::nullopt;
      bits_ = *byte;
    }
    const int64_t out = bits_ >> (7 - column_ % 8) & 1;
    column_ = column_ + 1 == width_ ? 0 : column_ + 1;
    return out;
  }

  Reader& reader_;
  const int kind_;
  const int64_t most_, width_;
  int64_t bits_ = 0, column_ = 0;
};

}  // namespace
}  // namespace pnm_image

Result<Pixels> decode_pnm(Encoded file, int64_t byte_limit) {
  using namespace pnm_image;
  const int kind = file[1] - '0';
  const bool has_most = kind != 1 && kind != 4, is_color = kind == 3 || kind == 6;
  Reader reader(file);
  reader.skip(2);
  const auto width = reader.number(), height = reader.number(), most = has_most ? reader.number() : std::optional<int64_t>(1);
  if (!width || !height || !most || *most < 1 || *most > 65535) return damaged_image("PNM", "no width, height or greatest value");
  if (kind > 3) reader.skip(1);
  Pixels out = TRY(Pixels::make(*height, *width, byte_limit));
  Samples samples(reader, kind, *most, *width);
  for (size_t k = 0; k < out.rgb.size(); k += is_color ? 1 : 3) {
    const auto sample = samples.next();
    if (!sample) return damaged_image("PNM", std::to_string(file.size()) + " bytes");
    for (size_t c = 0; c < (is_color ? 1 : 3); ++c) out.rgb[k + c] = *sample;
  }
  return out;
}

}  // namespace tenon::ops
