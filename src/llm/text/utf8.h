// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::llm {

/// One decoded character of UTF-8.
struct Utf8Step {
  uint32_t code = 0;    ///< the code point; U+FFFD where the bytes are no UTF-8
  uint32_t length = 0;  ///< in bytes, 1 to 4; of invalid bytes the longest prefix that could begin a character
  bool valid = false;
  bool cut = false;  ///< the text ends within a character that is valid so far
};
/// The step at `at`, which lies inside `text`. Source: Unicode 15, table 3-7 (well-formed sequences) and section 3.9 (maximal subparts).
Utf8Step utf8_step(std::string_view text, size_t at);
/// Appends a code point below 0x110000 that is no surrogate.
void append_utf8(std::string& out, uint32_t code);
/// The text with U+FFFD for each maximal part that is no UTF-8. Cost: linear.
std::string sound_utf8(std::string_view text);

}  // namespace tenon::llm
