// SPDX-License-Identifier: Apache-2.0
#include "files/utf.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace tenon::files {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

bool is_character(uint32_t code) { return code < 0x110000 && (code < 0xd800 || code > 0xdfff); }

void append_utf8(std::string& out, uint32_t code) {
  if (!is_character(code)) code = kReplacement;
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | (code >> 6));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

/// Takes one code point off the front of `text`.
uint32_t next_code(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  uint32_t code = length < 2 ? first : first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto next = i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    if ((next & 0xc0) != 0x80) {
      text.remove_prefix(1);
      return kReplacement;
    }
    code = (code << 6) | (next & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid = length != 0 && code >= kSmallest[length] && is_character(code);
  text.remove_prefix(valid ? length : 1);
  return valid ? code : kReplacement;
}

}  // namespace

std::string utf8_of_utf32(std::span<const std::byte> bytes, bool big_endian) {
  const auto code_at = [&](size_t i) {
    uint32_t code = 0;
    std::memcpy(&code, bytes.data() + 4 * i, 4);
    return big_endian ? std::byteswap(code) : code;
  };
  size_t count = bytes.size() / 4;
  while (count > 0 && code_at(count - 1) == 0) --count;
  std::string out;
  for (size_t i = 0; i < count; ++i) append_utf8(out, code_at(i));
  return out;
}

std::string utf32_of_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const uint32_t code = next_code(text);
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>((code >> shift) & 0xff);
  }
  return out;
}

}  // namespace tenon::files
