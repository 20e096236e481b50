// SPDX-License-Identifier: Apache-2.0
#include "ops/text/letters.h"

namespace tenon::ops {

static constexpr uint32_t kLast = 0x10ffff;

std::vector<uint32_t> code_points(std::string_view text) {
  std::vector<uint32_t> out;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at]);
    const int more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : -1;
    uint32_t c = more <= 0 ? first : first & (0x3fU >> more);
    bool sound = more >= 0 && at + static_cast<size_t>(more) < text.size();
    for (int k = 1; sound && k <= more; ++k) {
      const auto next = static_cast<uint8_t>(text[at + static_cast<size_t>(k)]);
      sound = (next & 0xc0) == 0x80;
      c = c << 6 | (next & 0x3f);
    }
    out.push_back(sound ? c : kLast + 1 + first);
    at += sound ? static_cast<size_t>(more) + 1 : 1;
  }
  return out;
}

bool is_word(uint32_t c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z'); }

std::vector<std::pair<uint32_t, uint32_t>> letters_of_class(char name) {
  if (name == 'd') return {{'0', '9'}};
  if (name == 'w') return {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
  return {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
}

}  // namespace tenon::ops
