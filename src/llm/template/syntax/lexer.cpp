// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>

#include "llm/template/syntax/token.h"
#include "llm/template/values/characters.h"

namespace tenon::llm::jinja {
namespace {

/// One kind of line end, and none at the end of the template.
std::string normalized(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  Result<std::vector<Token>> run() {
    while (at_ < source_.size()) TRY(next_part());
    emit(TokenKind::end, source_.size(), "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest(size_t from) const { return std::string_view(source_).substr(from); }
  bool has(size_t from, std::string_view text) const { return rest(from).starts_with(text); }

  Position position(size_t offset) {
    for (; counted_ < offset; ++counted_) {
      const char c = source_[counted_];
      if (c == '\n') {
        ++here_.line;
        here_.column = 1;
      } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
        ++here_.column;
      }
    }
    return here_;
  }

  Token& emit(TokenKind kind, size_t from, std::string text) { return tokens_.emplace_back(Token{kind, position(from), std::move(text)}); }

  size_t skip_space(size_t from) const {
    std::string_view text = rest(from);
    while (!text.empty()) {
      std::string_view next = text;
      if (!is_space(take_character(next))) break;
      text = next;
    }
    return source_.size() - text.size();
  }

  /// Leaves the tag whose closing begins at `from`.
  void close(size_t from, bool trims_line) {
    const size_t begin = at_;
    if (source_[from] == '-') {
      at_ = skip_space(from + 3);
    } else {
      const bool keeps = source_[from] == '+';
      at_ = from + (keeps ? 3 : 2);
      if (!keeps && trims_line && has(at_, "\n")) ++at_;
    }
    starts_line_ = at_ > begin && source_[at_ - 1] == '\n';
  }

  /// The data before a tag without what its sign, or lstrip_blocks, takes away.
  std::string_view data_before(size_t tag, char sign, bool is_block) const {
    const std::string_view data = std::string_view(source_).substr(at_, tag - at_);
    if (sign == '-') return stripped(data, Ends::right);
    if (sign == '+' || !is_block) return data;
    const size_t line_end = data.rfind('\n');
    if (line_end == std::string_view::npos && !starts_line_) return data;
    const std::string_view line = data.substr(line_end == std::string_view::npos ? 0 : line_end + 1);
    return stripped(line, Ends::left).empty() ? data.substr(0, data.size() - line.size()) : data;
  }

  void emit_data(std::string_view data) {
    if (!data.empty()) emit(TokenKind::data, at_, std::string(data));
  }

  /// The data up to the next tag, and that tag.
  Result<void> next_part() {
    size_t tag = at_;
    do {
      tag = source_.find('{', tag);
    } while (tag != std::string::npos && tag + 1 < source_.size() && source_[tag + 1] != '%' && source_[tag + 1] != '{' &&
             source_[tag + 1] != '#' && ++tag);
    if (tag == std::string::npos || tag + 1 >= source_.size()) {
      emit_data(rest(at_));
      at_ = source_.size();
      return {};
    }
    const char kind = source_[tag + 1];
    const char sign = tag + 2 < source_.size() && (source_[tag + 2] == '-' || source_[tag + 2] == '+') ? source_[tag + 2] : ' ';
    emit_data(data_before(tag, sign, kind != '{'));
    const size_t inside = tag + (sign == ' ' ? 2 : 3);
    if (kind == '#') return comment(tag, inside);
    if (kind == '%')
      if (const size_t end = end_of_raw_begin(inside); end != 0) return raw(tag, end);
    emit(kind == '%' ? TokenKind::block_begin : TokenKind::variable_begin, tag, source_.substr(tag, 2));
    at_ = inside;
    return tag_content(tag, kind == '%');
  }

  Result<void> comment(size_t tag, size_t inside) {
    size_t end = source_.find("#}", inside);
    if (end == std::string::npos) return syntax_error(position(tag), "a comment does not end").expected("#}").found("end of the template");
    if (end > inside && (source_[end - 1] == '-' || source_[end - 1] == '+')) --end;
    close(end, true);
    return {};
  }

  /// The end of the tag {% raw %}, whose "{%" (and sign of white space control) ends at `inside`; 0 where the tag is another one.
  size_t end_of_raw_begin(size_t inside) const {
    size_t i = skip_space(inside);
    if (!has(i, "raw")) return 0;
    i = skip_space(i + 3);
    if (has(i, "-%}")) return skip_space(i + 3);
    return has(i, "%}") ? i + 2 : 0;
  }

  Result<void> raw(size_t tag, size_t begin) {
    at_ = begin;
    starts_line_ = source_[begin - 1] == '\n';
    for (size_t end = source_.find("{%", begin); end != std::string::npos; end = source_.find("{%", end + 1)) {
      const char sign = end + 2 < source_.size() && (source_[end + 2] == '-' || source_[end + 2] == '+') ? source_[end + 2] : ' ';
      size_t i = skip_space(end + (sign == ' ' ? 2 : 3));
      if (!has(i, "endraw")) continue;
      i = skip_space(i + 6);
      if (!has(i, "%}") && !has(i, "-%}") && !has(i, "+%}")) continue;
      emit_data(data_before(end, sign, true));
      close(i, true);
      return {};
    }
    return syntax_error(position(tag), "a raw block does not end").expected("{% endraw %}").found("end of the template");
  }

  bool closes_tag(bool is_block) const {
    if (!open_.empty()) return false;
    return is_block ? has(at_, "%}") || has(at_, "-%}") || has(at_, "+%}") : has(at_, "}}") || has(at_, "-}}");
  }

  Result<void> tag_content(size_t tag, bool is_block) {
    const Position begin = position(tag);
    open_.clear();
    for (;;) {
      if (at_ >= source_.size())
        return syntax_error(begin, "a tag does not end").expected(is_block ? "%}" : "}}").found("end of the template");
      if (closes_tag(is_block)) {
        emit(is_block ? TokenKind::block_end : TokenKind::variable_end, at_, is_block ? "%}" : "}}");
        close(at_, is_block);
        return {};
      }
      if (const size_t next = skip_space(at_); next != at_) {
        at_ = next;
        continue;
      }
      TRY(token());
    }
  }

  size_t end_of_digits(size_t from) const {
    size_t i = from;
    const auto is_digit_at = [&](size_t k) { return k < source_.size() && source_[k] >= '0' && source_[k] <= '9'; };
    while (is_digit_at(i) || (i > from && i < source_.size() && source_[i] == '_' && is_digit_at(i + 1))) ++i;
    return i;
  }

  Result<void> token() {
    const char c = source_[at_];
    if (c >= '0' && c <= '9') return number();
    if (c == '\'' || c == '"') return text();
    std::string_view after = rest(at_);
    while (!after.empty()) {
      std::string_view next = after;
      if (!is_word(take_character(next))) break;
      after = next;
    }
    if (const size_t end = source_.size() - after.size(); end > at_) {
      emit(TokenKind::name, at_, source_.substr(at_, end - at_));
      at_ = end;
      return {};
    }
    return symbol();
  }

  Result<void> number() {
    const size_t begin = at_;
    const size_t digits = end_of_digits(begin);
    size_t end = digits;
    if (end < source_.size() && source_[end] == '.' && end_of_digits(end + 1) > end + 1) end = end_of_digits(end + 1);
    if (end < source_.size() && (source_[end] | 0x20) == 'e') {
      const size_t sign = end + 1 < source_.size() && (source_[end + 1] == '-' || source_[end + 1] == '+') ? end + 2 : end + 1;
      if (end_of_digits(sign) > sign) end = end_of_digits(sign);
    }
    if (end > digits && (begin == 0 || source_[begin - 1] != '.')) {
      std::string text = source_.substr(begin, end - begin);
      std::erase(text, '_');
      emit(TokenKind::floating, begin, text).floating = std::strtod(text.c_str(), nullptr);
      at_ = end;
      return {};
    }
    return integer(begin, digits);
  }

  static bool is_digit_of(char c, int base) {
    const int value = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : 99;
    return value < base;
  }

  Result<void> integer(size_t begin, size_t digits) {
    const char prefix = begin + 1 < source_.size() ? static_cast<char>(source_[begin + 1] | 0x20) : ' ';
    int base = source_[begin] != '0' ? 10 : prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    size_t end = digits;
    if (base != 10) {
      end = begin + 2;
      while (end < source_.size() && (is_digit_of(source_[end], base) || source_[end] == '_')) ++end;
    } else if (source_[begin] == '0') {  // a zero is a number of its own: 012 is none
      end = begin + 1;
      while (end < source_.size() && (source_[end] == '0' || source_[end] == '_')) ++end;
    }
    std::string text = source_.substr(begin, end - begin);
    std::erase(text, '_');
    errno = 0;
    const char* from = text.c_str() + (base == 10 ? 0 : 2);
    const long long value = std::strtoll(from, nullptr, base);
    if (*from == '\0') return syntax_error(position(begin), "a number has no digits").found(text);
    if (errno == ERANGE) return fail(Code::not_supported, place(position(begin)), "not supported yet: integers beyond 63 bits").found(text);
    emit(TokenKind::integer, begin, text).integer = value;
    at_ = end;
    return {};
  }

  static std::string place(Position at) { return std::to_string(at.line) + ":" + std::to_string(at.column); }

  Result<void> text() {
    const char quote = source_[at_];
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    const Position here = position(at_);
    if (end >= source_.size())
      return syntax_error(here, "a text does not end").expected(std::string(1, quote)).found("end of the template");
    std::string value = TRY(unescaped(std::string_view(source_).substr(at_ + 1, end - at_ - 1), here));
    emit(TokenKind::text, at_, std::move(value));
    at_ = end + 1;
    return {};
  }

  Result<void> symbol() {
    constexpr std::array<std::string_view, 6> kPairs = {"//", "**", "==", "!=", ">=", "<="};
    constexpr std::string_view kSingles = "+-/*%~[](){}><=.:|,;", kOpening = "([{", kClosing = ")]}";
    const auto pair = std::ranges::find_if(kPairs, [&](std::string_view s) { return has(at_, s); });
    const size_t length = pair != kPairs.end() ? 2 : 1;
    const char c = source_[at_];
    if (length == 1 && kSingles.find(c) == std::string_view::npos) {
      std::string_view found = rest(at_);
      const std::string_view all = found;
      take_character(found);
      return syntax_error(position(at_), "a character is not part of any expression").found(repr(all.substr(0, all.size() - found.size())));
    }
    if (kOpening.find(c) != std::string_view::npos) open_ += kClosing[kOpening.find(c)];
    if (kClosing.find(c) != std::string_view::npos) {
      if (open_.empty() || open_.back() != c)
        return syntax_error(position(at_), "a bracket closes none")
            .expected(open_.empty() ? "an opening bracket before it" : "'" + std::string(1, open_.back()) + "'")
            .found("'" + std::string(1, c) + "'");
      open_.pop_back();
    }
    emit(TokenKind::symbol, at_, source_.substr(at_, length));
    at_ += length;
    return {};
  }

  static std::string repr(std::string_view character) { return "'" + std::string(character) + "'"; }

  std::string source_;
  std::vector<Token> tokens_;
  size_t at_ = 0, counted_ = 0;
  Position here_;
  bool starts_line_ = true;
  std::string open_;  ///< the closing brackets that are due
};

}  // namespace

Result<std::vector<Token>> tokens_of(std::string_view source) { return Lexer(normalized(source)).run(); }

Error syntax_error(Position at, std::string what) {
  return fail(Code::bad_file, std::to_string(at.line) + ":" + std::to_string(at.column), std::move(what));
}

std::string description_of(const Token& token) {
  switch (token.kind) {
    case TokenKind::data: return "text outside of tags";
    case TokenKind::name: return "name '" + token.text + "'";
    case TokenKind::text: return "a text";
    case TokenKind::integer:
    case TokenKind::floating: return "number " + token.text;
    case TokenKind::end: return "end of the template";
    default: return "'" + token.text + "'";
  }
}

}  // namespace tenon::llm::jinja
