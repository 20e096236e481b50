// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llm/text/vocabulary.h"

namespace tenon::llm {

/// How a tokenizer's tokens become text.
struct Decoding {
  bool byte_level = false;                                        ///< texts of tokens are in GPT-2's alphabet of bytes
  bool bytes = false;                                             ///< tokens <0x00> to <0xFF> are bytes
  bool joined_by_spaces = false;                                  ///< a space between tokens
  std::vector<std::pair<std::string, std::string>> replacements;  ///< within each token, in order
  std::string stripped;                                           ///< taken off the beginning of the text, at most `most_stripped` times
  uint32_t most_stripped = 0;
};

/// The bytes of a token by itself; `byte`: of a token that is a byte; `literal`: the text is used unchanged.
std::string bytes_of_token(const Decoding& decoding, std::string_view text, std::optional<unsigned char> byte, bool literal);

/// Bytes that arrive in parts, as text that is whole characters: what is no UTF-8 becomes U+FFFD, as in sound_utf8().
class Utf8Stream {
 public:
  /// The characters that are complete by now.
  std::string push(std::string_view bytes);
  /// The rest of the text at the end: U+FFFD for an incomplete character.
  std::string finish();

 private:
  std::string rest_;  // the beginning of a character
};

}  // namespace tenon::llm
