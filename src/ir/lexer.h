// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::ir {

struct Token {
  enum class Kind : uint8_t { end, name, string, number, mark, bad } kind = Kind::end;
  std::string_view text;  ///< as written, quotes included
  size_t at = 0;
  bool is(std::string_view mark_or_word) const { return kind != Kind::string && text == mark_or_word; }
};

/// May begin a bare name; may be in it.
bool starts_name(char c);
bool continues_name(char c);

/// Cuts the text form into tokens. Blanks, line ends and `//` comments separate them.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// The token `ahead` places from here, at most 3.
  const Token& peek(size_t ahead = 0);
  Token take();
  bool take_if(std::string_view mark_or_word);
  Result<Token> expect(std::string_view mark_or_word, std::string_view where);
  /// The raw text between the `[` that comes next and its `]`; quotes and nested brackets are honoured.
  Result<std::string_view> bracketed();
  size_t left() const { return text_.size() - at_; }
  std::string_view text() const { return text_; }
  /// Goes on from that place of the text; for what is read by another parser.
  void seek(size_t at) {
    at_ = at;
    buffered_ = 0;
  }

  /// "line 3, column 14: ..." for the token.
  Error error(const Token& token, std::string what, Code code = Code::bad_graph) const;
  std::string place(size_t at) const;

 private:
  Token scan();
  Token string(size_t begin);
  Token number(size_t begin);

  std::string_view text_;
  size_t at_ = 0;
  Token ahead_[4];
  size_t buffered_ = 0;
};

/// What a string token says. Errors: an escape that is none.
Result<std::string> unquote(const Lexer& lexer, const Token& token);

}  // namespace tenon::ir
