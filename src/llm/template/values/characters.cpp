// SPDX-License-Identifier: Apache-2.0
#include "llm/template/values/characters.h"

#include <algorithm>

#include "llm/template/values/special_case.h"
#include "llm/text/character.h"
#include "llm/text/utf8.h"

namespace tenon::llm::jinja {
namespace {

constexpr char32_t kEscapedByte = 0xdc00;

bool is_escaped_byte(char32_t c) { return c >= kEscapedByte + 0x80 && c <= kEscapedByte + 0xff; }

bool is_cased(char32_t c) {
  const CharacterKind kind = kind_of(c);
  return kind == CharacterKind::upper || kind == CharacterKind::lower || kind == CharacterKind::title;
}

/// Unicode's Case_Ignorable, by category and the marks of punctuation that have it.
bool is_case_ignorable(char32_t c) {
  switch (kind_of(c)) {
    case CharacterKind::mark_nonspacing:
    case CharacterKind::format:
    case CharacterKind::letter_modifier:
    case CharacterKind::symbol_modifier: return true;
    default: return c == '\'' || c == '.' || c == ':' || c == 0xb7 || c == 0x2018 || c == 0x2019 || c == 0x2024 || c == 0x2027;
  }
}

/// Whether the sigma at `at` ends a word: after a cased letter, before none.
bool is_final_sigma(std::u32string_view text, size_t at) {
  size_t left = at;
  while (left > 0 && is_case_ignorable(text[left - 1])) --left;
  if (left == 0 || !is_cased(text[left - 1])) return false;
  size_t right = at + 1;
  while (right < text.size() && is_case_ignorable(text[right])) ++right;
  return right == text.size() || !is_cased(text[right]);
}

}  // namespace

char32_t take_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) {
    text.remove_prefix(1);
    return first;
  }
  const Utf8Step step = utf8_step(text, 0);
  text.remove_prefix(step.valid ? step.length : 1);
  return step.valid ? static_cast<char32_t>(step.code) : kEscapedByte + first;
}

void append_character(std::string& out, char32_t c) {
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (is_escaped_byte(c)) return put(c - kEscapedByte);
  if (c < 0x800) {
    put(0xc0 | (c >> 6));
  } else if (c < 0x10000) {
    put(0xe0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3f));
  } else {
    put(0xf0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3f));
    put(0x80 | ((c >> 6) & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

std::u32string characters_of(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  while (!text.empty()) out += take_character(text);
  return out;
}

std::string text_of(std::u32string_view characters) {
  std::string out;
  out.reserve(characters.size());
  for (const char32_t c : characters) append_character(out, c);
  return out;
}

size_t character_count(std::string_view text) {
  if (is_ascii(text)) return text.size();
  size_t count = 0;
  for (; !text.empty(); ++count) take_character(text);
  return count;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool is_space(char32_t c) {
  return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_letter(char32_t c) {
  const CharacterKind kind = kind_of(c);
  return kind >= CharacterKind::upper && kind <= CharacterKind::letter;
}

bool is_digit(char32_t c) { return kind_of(c) == CharacterKind::digit; }
bool is_upper(char32_t c) { return kind_of(c) == CharacterKind::upper; }
bool is_lower(char32_t c) { return kind_of(c) == CharacterKind::lower || c == 0xaa || c == 0xba; }
bool is_title(char32_t c) { return kind_of(c) == CharacterKind::title; }

bool is_word(char32_t c) {
  const CharacterKind kind = kind_of(c);
  return c == '_' || is_letter(c) || kind == CharacterKind::digit || kind == CharacterKind::number;
}

bool is_printable(char32_t c) {
  if (c < 0x7f) return c >= 0x20;
  const CharacterKind kind = kind_of(c);
  return kind != CharacterKind::unassigned && kind < CharacterKind::space;
}

std::string upper_of(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char32_t c = take_character(text);
    if (const SpecialCase* special = special_case(c)) {
      out += special->upper;
    } else {
      append_character(out, upper_character(c));
    }
  }
  return out;
}

std::string lower_of(std::string_view text) {
  constexpr char32_t kSigma = 0x3a3, kSmallSigma = 0x3c3, kFinalSigma = 0x3c2, kDottedI = 0x130;
  const std::u32string characters = characters_of(text);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < characters.size(); ++i) {
    const char32_t c = characters[i];
    if (c == kSigma) {
      append_character(out, is_final_sigma(characters, i) ? kFinalSigma : kSmallSigma);
    } else if (c == kDottedI) {
      out += "i\u0307";
    } else {
      append_character(out, lower_character(c));
    }
  }
  return out;
}

void append_title(std::string& out, char32_t c) {
  if (const SpecialCase* special = special_case(c)) {
    out += special->title;
  } else {
    append_character(out, title_character(c));
  }
}

namespace {

template <class Predicate>
std::string_view strip_where(std::string_view text, Ends ends, const Predicate& drops) {
  const auto has = [&](Ends end) { return (static_cast<unsigned>(ends) & static_cast<unsigned>(end)) != 0; };
  while (has(Ends::left) && !text.empty()) {
    std::string_view rest = text;
    if (!drops(take_character(rest))) break;
    text = rest;
  }
  while (has(Ends::right) && !text.empty()) {
    size_t start = text.size() - 1;
    while (start > 0 && text.size() - start < 4 && (static_cast<unsigned char>(text[start]) & 0xc0) == 0x80) --start;
    std::string_view last = text.substr(start);
    char32_t c = take_character(last);
    if (!last.empty()) {  // no whole character: its last byte counts alone
      start = text.size() - 1;
      last = text.substr(start);
      c = take_character(last);
    }
    if (!drops(c)) break;
    text = text.substr(0, start);
  }
  return text;
}

}  // namespace

std::string_view stripped(std::string_view text, Ends ends) { return strip_where(text, ends, is_space); }

std::string_view stripped(std::string_view text, Ends ends, std::string_view chars) {
  const std::u32string set = characters_of(chars);
  return strip_where(text, ends, [&](char32_t c) { return set.find(c) != std::u32string::npos; });
}

}  // namespace tenon::llm::jinja
