// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::rewrite {

/// The reading position in a text of rules. Blanks, line ends and comments (`#` to the end of the line) separate tokens.
class Cursor {
 public:
  /// `file`: for messages; empty: the text is one equation without a file.
  Cursor(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  void skip_blanks();
  /// Skips blanks, and the token where it is next. Returns whether it was.
  bool eat(std::string_view token);
  /// The next character after blanks, not consumed; '\0' at the end.
  char peek();
  /// The character after that.
  char peek_second() const { return position_ + 1 < text_.size() ? text_[position_ + 1] : '\0'; }
  std::string_view word();   ///< the next identifier, not consumed; empty where there is none
  std::string identifier();  ///< the same, consumed
  /// As `eat`, where the whole next identifier equals `expected`.
  bool eat_word(std::string_view expected);
  bool number_ahead();  ///< whether a number comes next
  Result<double> number();
  Result<int64_t> integer();
  Result<std::string> quoted();  ///< the text up to the closing quote; the opening one has been consumed

  /// The error that something else than `expected` is at the cursor; the message shows the line with a caret.
  Error error(std::string expected) const;
  /// The error `what` at an earlier position.
  Error error_at(size_t position, std::string what, Code code = Code::bad_rule) const;

  size_t position() const { return position_; }
  void set_position(size_t position) { position_ = position; }
  bool at_end() { return peek() == '\0' && position_ >= text_.size(); }
  std::string_view text() const { return text_; }
  /// The text from `start` to the cursor, without blanks at the end.
  std::string_view text_since(size_t start) const;
  int line_of(size_t position) const;

 private:
  std::string_view text_, file_;
  size_t position_ = 0;
};

}  // namespace tenon::rewrite
