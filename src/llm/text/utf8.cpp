// SPDX-License-Identifier: Apache-2.0
#include "llm/text/utf8.h"

namespace tenon::llm {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

/// Bytes of a character by its first one; 0 where none begins so.
uint32_t length_of(uint32_t first) {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/// Whether `second` may follow `first`: no overlong form, no surrogate, nothing beyond U+10FFFF.
bool second_fits(uint32_t first, uint32_t second) {
  const uint32_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const uint32_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  return second >= least && second <= most;
}

}  // namespace

Utf8Step utf8_step(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(at), length = length_of(first);
  if (length == 1) return {first, 1, true, false};
  if (length == 0) return {kReplacement, 1, false, false};
  uint32_t code = first & (0xffu >> (length + 1));
  for (uint32_t i = 1; i < length; ++i) {
    if (at + i >= text.size()) return {kReplacement, i, false, true};
    const uint32_t next = byte(at + i);
    if (i == 1 ? !second_fits(first, next) : (next & 0xc0) != 0x80) return {kReplacement, i, false, false};
    code = (code << 6) | (next & 0x3f);
  }
  return {code, length, true, false};
}

void append_utf8(std::string& out, uint32_t code) {
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

std::string sound_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = utf8_step(text, at);
    if (step.valid) out += text.substr(at, step.length);
    else append_utf8(out, kReplacement);
    at += step.length;
  }
  return out;
}

}  // namespace tenon::llm
