// SPDX-License-Identifier: Apache-2.0
#include "llm/template/builtins/text_cases.h"

#include "llm/template/values/characters.h"
#include "llm/text/find_substring.h"

namespace tenon::llm::jinja {
namespace {

bool is_line_end(char32_t c) { return (c >= 0xa && c <= 0xd) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029; }

}  // namespace

std::string capitalized(std::string_view text) {
  std::string out;
  if (text.empty()) return out;
  std::string_view rest = text;
  append_title(out, take_character(rest));
  const std::string lower = lower_of(text);  // of the whole, for the final sigma
  std::string_view lower_rest = lower;
  std::string first;
  append_character(first, take_character(lower_rest));
  if (lower.size() >= rest.size()) return out + std::string(lower_rest);
  return out + lower_of(rest);
}

std::string titled(std::string_view text) {
  std::string out, word;
  const auto flush = [&] {
    out += capitalized(word);
    word.clear();
  };
  while (!text.empty()) {
    const char32_t c = take_character(text);
    const bool is_cased = is_upper(c) || is_lower(c) || is_title(c);
    if (is_cased) {
      append_character(word, c);
    } else {
      flush();
      append_character(out, c);
    }
  }
  flush();
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text, bool keeps_ends) {
  std::vector<std::string_view> out;
  const char* begin = text.data();
  while (!text.empty()) {
    const char* end = text.data();
    const char32_t c = take_character(text);
    if (!is_line_end(c)) {
      if (text.empty()) out.emplace_back(begin, text.data() - begin);
      continue;
    }
    if (c == '\r' && text.starts_with('\n')) text.remove_prefix(1);
    out.emplace_back(begin, (keeps_ends ? text.data() : end) - begin);
    begin = text.data();
  }
  return out;
}

size_t occurrences(std::string_view text, std::string_view part) {
  if (part.empty()) return character_count(text) + 1;
  size_t count = 0;
  for (size_t at = find_substring(text, part); at != std::string_view::npos; at = find_substring(text, part, at + part.size())) ++count;
  return count;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to, int64_t most) {
  std::string out;
  size_t left = most < 0 ? SIZE_MAX : static_cast<size_t>(most);
  if (from.empty()) {
    for (; left > 0; --left) {
      out += to;
      if (text.empty()) return out;
      append_character(out, take_character(text));
    }
    return out + std::string(text);
  }
  for (size_t at = find_substring(text, from); at != std::string_view::npos && left > 0; at = find_substring(text, from), --left) {
    out += text.substr(0, at);
    out += to;
    text.remove_prefix(at + from.size());
  }
  return out + std::string(text);
}

}  // namespace tenon::llm::jinja
