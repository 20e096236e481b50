// SPDX-License-Identifier: Apache-2.0
#include "ir/lexer.h"

#include <fmt/format.h>

namespace tenon::ir {

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool starts_name(char c) { return is_letter(c) || c == '_' || c == '/'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '.' || c == '-' || c == '$'; }

/// The place of the first character that is neither blank nor in a comment.
static size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size()) {
    char c = text[at];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else {
      break;
    }
  }
  return at;
}

Token Lexer::scan() {
  at_ = skip_blanks(text_, at_);
  if (at_ >= text_.size()) return {Token::Kind::end, {}, text_.size()};
  size_t begin = at_;
  char c = text_[at_];
  if (c == '"') return string(begin);
  if (is_digit(c) || c == '-' || c == '+' || (c == '.' && begin + 1 < text_.size() && is_digit(text_[begin + 1]))) return number(begin);
  if (starts_name(c)) {
    while (at_ < text_.size() && continues_name(text_[at_]) && text_.substr(at_, 2) != "//") ++at_;
    return {Token::Kind::name, text_.substr(begin, at_ - begin), begin};
  }
  at_ += text_.substr(begin, 2) == "::" ? 2 : 1;
  return {Token::Kind::mark, text_.substr(begin, at_ - begin), begin};
}

Token Lexer::string(size_t begin) {
  for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
    if (text_[at_] == '\\') {
      ++at_;
    } else if (text_[at_] == '"') {
      ++at_;
      return {Token::Kind::string, text_.substr(begin, at_ - begin), begin};
    }
  }
  at_ = std::min(at_, text_.size());
  return {Token::Kind::bad, text_.substr(begin, std::min<size_t>(at_ - begin, 20)), begin};
}

Token Lexer::number(size_t begin) {
  ++at_;
  auto sign_of_exponent = [&] { return (text_[at_] == '-' || text_[at_] == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'); };
  while (at_ < text_.size() && (is_digit(text_[at_]) || is_letter(text_[at_]) || text_[at_] == '.' || sign_of_exponent())) ++at_;
  return {Token::Kind::number, text_.substr(begin, at_ - begin), begin};
}

const Token& Lexer::peek(size_t ahead) {
  TENON_ASSERT(ahead < 4);
  while (buffered_ <= ahead) ahead_[buffered_++] = scan();
  return ahead_[ahead];
}

Token Lexer::take() {
  Token token = peek();
  --buffered_;
  for (size_t i = 0; i < buffered_; ++i) ahead_[i] = ahead_[i + 1];
  return token;
}

bool Lexer::take_if(std::string_view mark_or_word) {
  if (!peek().is(mark_or_word)) return false;
  take();
  return true;
}

Result<Token> Lexer::expect(std::string_view mark_or_word, std::string_view where) {
  if (peek().is(mark_or_word)) return take();
  return error(peek(), fmt::format("{} is not well formed", where)).expected(fmt::format("`{}`", mark_or_word));
}

Result<std::string_view> Lexer::bracketed() {
  Token open = TRY(expect("[", "a type"));
  at_ = open.at + 1;  // what was looked at ahead is scanned again, as raw text
  buffered_ = 0;
  size_t depth = 0;
  bool quoted = false;
  for (size_t begin = at_; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (quoted) {
      if (c == '\\') ++at_;
      else if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && depth-- == 0) {
      return text_.substr(begin, at_++ - begin);
    }
  }
  at_ = text_.size();
  return error(open, "a type's `[` has no `]`").expected("`]`").found("the end of the text");
}

std::string Lexer::place(size_t at) const {
  size_t line = 1, start = 0;
  for (size_t i = 0; i < at && i < text_.size(); ++i) {
    if (text_[i] != '\n') continue;
    ++line;
    start = i + 1;
  }
  return fmt::format("line {}, column {}", line, at - start + 1);
}

Error Lexer::error(const Token& token, std::string what, Code code) const {
  std::string found = "`" + std::string(token.text.substr(0, 60)) + "`";
  if (token.kind == Token::Kind::end) found = "the end of the text";
  if (token.kind == Token::Kind::bad) found = "a string without its end: " + found;
  return fail(code, place(token.at), std::move(what)).found(std::move(found));
}

static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

Result<std::string> unquote(const Lexer& lexer, const Token& token) {
  std::string out;
  std::string_view inside = token.text.substr(1, token.text.size() - 2);
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      out += inside[i];
      continue;
    }
    char c = ++i < inside.size() ? inside[i] : 0;
    if (c == '"' || c == '\\') {
      out += c;
    } else if (c == 'n' || c == 't') {
      out += c == 'n' ? '\n' : '\t';
    } else if (c == 'x' && i + 2 < inside.size() && hex_digit(inside[i + 1]) >= 0 && hex_digit(inside[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(inside[i + 1]) * 16 + hex_digit(inside[i + 2]));
      i += 2;
    } else {
      return lexer.error(token, "an escape that is none").expected(R"(\", \\, \n, \t or \xHH)");
    }
  }
  return out;
}

}  // namespace tenon::ir
