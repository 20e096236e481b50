// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::ir {

struct Token {
  enum class Kind : uint8_t { end, name, string, number, mark, bad } kind = Kind::end;
  std::string_view text;  ///< as written, quotes included
  size_t at = 0;          ///< offset in the text
  bool is(std::string_view mark_or_word) const { return kind != Kind::string && text == mark_or_word; }
};

/// Whether a bare name may begin with `c`.
bool starts_name(char c);
/// Whether `c` may be in a bare name after its first character.
bool continues_name(char c);

/// Cuts the text form into tokens. Blanks, line ends and `//` comments separate them.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// The next token but `ahead`, without consuming it; ahead: at most 3.
  const Token& peek(size_t ahead = 0);
  /// Consumes a token.
  Token take();
  /// Consumes the next token if it is that one.
  bool take_if(std::string_view mark_or_word);
  /// Consumes that token. Errors: bad_graph where the next token is another; `where` describes the construct.
  Result<Token> expect(std::string_view mark_or_word, std::string_view where);
  /// Consumes `[ ... ]` and returns the text between; quotes and nested brackets are respected.
  Result<std::string_view> bracketed();
  /// Bytes of the text that no token has been read from; peek() reads too.
  size_t left() const { return text_.size() - at_; }
  std::string_view text() const { return text_; }
  /// Continues at that offset of the text, after another parser has read a part of it.
  void seek(size_t at) {
    at_ = at;
    buffered_ = 0;
  }

  /// "line 3, column 14: ..." for the token.
  Error error(const Token& token, std::string what, Code code = Code::bad_graph) const;
  /// "line 3, column 14" of an offset.
  std::string place(size_t at) const;

 private:
  Token scan();
  Token string(size_t begin);
  Token number(size_t begin);

  std::string_view text_;
  size_t at_ = 0;        ///< behind the last token that was read, by peek() or to be consumed
  Token ahead_[4];       ///< tokens that peek() has read
  size_t buffered_ = 0;  ///< number of these
};

/// The text of a string token without quotes and escapes. Errors: bad_graph for an invalid escape.
Result<std::string> unquote(const Lexer& lexer, const Token& token);

}  // namespace tenon::ir
