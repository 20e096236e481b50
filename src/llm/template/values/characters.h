// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

/// Texts as Python has them: sequences of code points, held as UTF-8. A byte that is no UTF-8 counts as one character, U+DC80 to U+DCFF
/// (Python's surrogateescape), and is written back as that byte.
namespace tenon::llm::jinja {

/// Takes one character off the front of `text`, which is not empty.
char32_t take_character(std::string_view& text);
void append_character(std::string& out, char32_t character);

std::u32string characters_of(std::string_view text);
std::string text_of(std::u32string_view characters);

/// Cost: linear in the bytes.
size_t character_count(std::string_view text);
bool is_ascii(std::string_view text);

/// str.isspace() of one character.
bool is_space(char32_t character);
bool is_letter(char32_t character);
/// Whether the character is of the category Nd.
bool is_digit(char32_t character);
bool is_upper(char32_t character);
bool is_lower(char32_t character);
bool is_title(char32_t character);
/// Whether repr() writes the character as it is.
bool is_printable(char32_t character);
/// A letter, a digit or an underscore: \w of Python's re.
bool is_word(char32_t character);

/// str.upper(), str.lower(), with the characters that become several (Unicode's SpecialCasing.txt) and the final sigma.
std::string upper_of(std::string_view text);
std::string lower_of(std::string_view text);
/// Appends the character in title case: its own form where Unicode has one, else upper case.
void append_title(std::string& out, char32_t character);

/// The ends of a text from which stripped() removes characters: white space, or the characters of `chars`.
enum class Ends : uint8_t { left = 1, right = 2, both = 3 };
std::string_view stripped(std::string_view text, Ends ends);
std::string_view stripped(std::string_view text, Ends ends, std::string_view chars);

}  // namespace tenon::llm::jinja
