// SPDX-License-Identifier: Apache-2.0
#include "llm/text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "llm/text/utf8.h"

namespace tenon::llm {
namespace {

constexpr uint32_t kShifted = 0x100;  // where the bytes that cannot be printed go, in order
constexpr size_t kCharacters = kShifted + 256;

constexpr bool is_printable(uint32_t byte) { return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae; }

struct Alphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, kCharacters> byte{};
};

constexpr Alphabet make_alphabet() {
  Alphabet out;
  out.byte.fill(-1);
  uint32_t next = kShifted;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint32_t character = is_printable(byte) ? byte : next++;
    out.character[byte] = static_cast<uint16_t>(character);
    out.byte[character] = static_cast<int16_t>(byte);
  }
  return out;
}
constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

void append_byte_characters(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) append_utf8(out, kAlphabet.character[static_cast<unsigned char>(byte)]);
}

std::optional<std::string> bytes_of_characters(std::string_view characters) {
  std::string out;
  out.reserve(characters.size());
  for (size_t at = 0; at < characters.size();) {
    const Utf8Step step = utf8_step(characters, at);
    if (step.code >= kCharacters || kAlphabet.byte[step.code] < 0) return std::nullopt;
    out += static_cast<char>(kAlphabet.byte[step.code]);
    at += step.length;
  }
  return out;
}

}  // namespace tenon::llm
