// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tenon::llm {

/// GPT-2's alphabet: each byte as a character that can be printed ("\n" is U+010A, " " is U+0120).
/// Source: bytes_to_unicode in https://github.com/openai/gpt-2/blob/master/src/encoder.py.

/// Appends the characters of the bytes.
void append_byte_characters(std::string& out, std::string_view bytes);
/// The bytes of the characters; nullopt where one is not of the alphabet.
std::optional<std::string> bytes_of_characters(std::string_view characters);

}  // namespace tenon::llm
