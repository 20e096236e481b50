// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "llm/template/syntax/token.h"
#include "llm/template/values/characters.h"

namespace tenon::llm::jinja {
namespace {

/// Removes up to `most` digits of the base from the front of `rest`. Returns their value; -1 where there are fewer than `least`.
int64_t take_digits(std::string_view& rest, int base, size_t least, size_t most) {
  uint32_t code = 0;
  const char* end = rest.data() + std::min(most, rest.size());
  const auto [stop, error] = std::from_chars(rest.data(), end, code, base);
  const auto count = static_cast<size_t>(stop - rest.data());
  if (error != std::errc() || count < least) return -1;
  rest.remove_prefix(count);
  return code;
}

/// The character of a numeric escape whose letter is `kind`; -1 where it is none.
int64_t take_code(std::string_view& rest, char kind) {
  if (kind == 'x') return take_digits(rest, 16, 2, 2);
  if (kind == 'u') return take_digits(rest, 16, 4, 4);
  return take_digits(rest, 16, 8, 8);
}

constexpr std::string_view kSimple = "\\'\"abfnrtv", kMeant = "\\'\"\a\b\f\n\r\t\v";

}  // namespace

Result<std::string> unescaped(std::string_view rest, Position at) {
  std::string out;
  while (!rest.empty()) {
    if (rest[0] != '\\' || rest.size() == 1) {
      out += rest[0];
      rest.remove_prefix(1);
      continue;
    }
    const char kind = rest[1];
    const std::string_view escape = rest.substr(0, 2);
    if (kind >= '0' && kind <= '7') {
      rest.remove_prefix(1);
      append_character(out, static_cast<char32_t>(take_digits(rest, 8, 1, 3)));
      continue;
    }
    rest.remove_prefix(2);
    if (const size_t simple = kSimple.find(kind); simple != std::string_view::npos) {
      out += kMeant[simple];
    } else if (kind == 'x' || kind == 'u' || kind == 'U') {
      const int64_t code = take_code(rest, kind);
      const bool is_character = code >= 0 && code < 0x110000 && (code < 0xd800 || code > 0xdfff);
      if (!is_character)
        return syntax_error(at, "a text has a bad escape").expected("a character's hexadecimal digits").found(std::string(escape));
      append_character(out, static_cast<char32_t>(code));
    } else if (kind == 'N') {
      return fail(Code::not_supported, "", "not supported yet: characters by name")
          .found("\\N")
          .at(std::to_string(at.line) + ":" + std::to_string(at.column));
    } else if (kind != '\n') {  // a line that goes on; others stay
      out += escape;
    }
  }
  return out;
}

}  // namespace tenon::llm::jinja
