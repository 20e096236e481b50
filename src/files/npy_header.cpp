// SPDX-License-Identifier: Apache-2.0
#include "files/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace tenon::files {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// Parses the header's text: a Python dict with the keys descr, fortran_order and shape, and no other Python.
class DictParser {
 public:
  DictParser(std::string_view text, const std::string& place, const ArrayLimits& limits) : text_(text), place_(place), limits_(limits) {}

  Result<NpyHeader> whole() {
    if (!take('{')) return bad("no dictionary");
    for (int keys = 0; !take('}'); ++keys) {
      if (keys != 0 && !take(',')) return bad("no comma between keys");
      if (take('}')) break;
      const std::string key = TRY(quoted());
      if (!take(':')) return bad("no colon after a key");
      TRY(value_of(key));
    }
    skip();
    if (at_ != text_.size() || !has_descr_ || !has_order_ || !has_shape_) return bad("not exactly descr, fortran_order and shape");
    return header_;
  }

 private:
  Error bad(std::string what) const {
    return fail(Code::bad_file, place_, "the npy header does not parse: " + std::move(what))
        .expected("a Python dictionary of descr, fortran_order and shape")
        .found(std::string(text_.substr(0, std::min<size_t>(80, text_.find('\n')))));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Result<std::string> quoted() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : 0;
    if (quote != '\'' && quote != '"') return bad("no text in quotes");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) return bad("a quote is not closed");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }

  Result<void> value_of(const std::string& key) {
    bool& seen = key == "descr" ? has_descr_ : key == "fortran_order" ? has_order_ : has_shape_;
    if (key != "descr" && key != "fortran_order" && key != "shape") return bad("unknown key " + key);
    if (std::exchange(seen, true)) return bad("key " + key + " appears twice");
    return key == "descr" ? descr() : key == "shape" ? shape() : order();
  }

  Result<void> descr() {
    skip();
    if (at_ < text_.size() && text_[at_] == '[') return unsupported("a structure");
    const std::string descr = TRY(quoted());
    size_t begin = 0;
    if (!descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos) header_.order = descr[begin++];
    if (begin >= descr.size()) return bad("an empty dtype");
    header_.kind = descr[begin++];
    if (std::string_view("OVMm").find(header_.kind) != std::string_view::npos) return unsupported(descr);
    if (std::string_view("biufcUS").find(header_.kind) == std::string_view::npos) return bad("unknown dtype " + descr);
    const auto [end, error] = std::from_chars(descr.data() + begin, descr.data() + descr.size(), header_.item);
    if (error != std::errc{} || end != descr.data() + descr.size() || header_.item < 0) return bad("unknown dtype " + descr);
    return {};
  }

  Error unsupported(const std::string& what) const {
    return fail(Code::not_supported, place_, "not supported yet: npy arrays of dtype " + what)
        .expected("bool, integers, f16, f32, f64, complex or strings")
        .found(what)
        .advice("convert it with array.astype before saving");
  }

  Result<void> order() {
    skip();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      header_.fortran = word == "True";
      return {};
    }
    return bad("fortran_order is neither True nor False");
  }

  Result<void> shape() {
    if (!take('(')) return bad("the shape is no tuple");
    while (!take(')')) {
      if (!header_.shape.empty() && !take(',')) return bad("no comma in the shape");
      if (take(')')) break;
      int64_t size = -1;
      skip();
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc{} || size < 0) return bad("a size is not valid");
      at_ = static_cast<size_t>(end - text_.data());
      (void)take('L');  // Python 2 wrote it
      header_.shape.push_back(size);
      if (header_.shape.size() > static_cast<size_t>(limits_.rank)) {
        return fail(Code::limit_exceeded, place_, "the npy array has too many axes")
            .expected(fmt::format("at most {}", limits_.rank))
            .found("more");
      }
    }
    return {};
  }

  std::string_view text_;
  const std::string& place_;
  const ArrayLimits& limits_;
  size_t at_ = 0;
  NpyHeader header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

Error cut_off(const std::string& place, size_t header, size_t found) {
  return fail(Code::bad_file, place, "the npy file is cut off in its header")
      .expected(fmt::format("at least {} bytes", header))
      .found(fmt::format("{} bytes", found));
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes, const std::string& place, const ArrayLimits& limits) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < 10 || text.substr(0, kMagic.size()) != kMagic)
    return fail(Code::bad_file, place, "this is no npy file")
        .expected("a file that starts with \\x93NUMPY")
        .found(text.empty() ? "an empty file" : "other bytes")
        .advice("write the array with numpy.save");
  const int major = static_cast<unsigned char>(text[6]);
  if (major < 1 || major > 3) return fail(Code::bad_file, place, "unknown npy version").expected("1, 2 or 3").found(std::to_string(major));
  const size_t prefix = major == 1 ? 10 : 12;
  if (text.size() < prefix) return cut_off(place, prefix, text.size());
  size_t length = 0;
  std::memcpy(&length, text.data() + 8, prefix - 8);
  if (length > limits.header_bytes) {
    return fail(Code::limit_exceeded, place, "the npy header is too long")
        .expected(fmt::format("at most {} bytes", limits.header_bytes))
        .found(std::to_string(length));
  }
  if (length > text.size() - prefix) return cut_off(place, prefix + length, text.size());
  NpyHeader header = TRY(DictParser(text.substr(prefix, length), place, limits).whole());
  header.data_offset = prefix + length;
  return header;
}

std::string npy_header_text(const std::string& descr, const Sizes& shape) {
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr, fmt::join(shape, ", "),
                                 shape.size() == 1 ? "," : "");
  const size_t prefix = dict.size() + 11 > 65000 ? 12 : 10;
  while ((prefix + dict.size() + 1) % 64 != 0) dict += ' ';
  dict += '\n';
  std::string out(kMagic);
  out += prefix == 10 ? '\1' : '\2';
  out += '\0';
  for (size_t i = 0; i < prefix - 8; ++i) out += static_cast<char>((dict.size() >> (8 * i)) & 0xff);
  return out + dict;
}

}  // namespace tenon::files
