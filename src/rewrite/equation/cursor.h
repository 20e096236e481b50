// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace tenon::rewrite {

/// The reading position in a text of rules. Blanks, line ends and comments (`#` to the end of the line) part words and mean nothing
/// else.
class Cursor {
 public:
  /// `file`: for messages; empty: the text is one equation without a file.
  Cursor(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  void skip();
  bool eat(std::string_view token);
  /// The next character that means something, not consumed; '\0' at the end.
  char peek();
  /// The one after it.
  char peek_second() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }
  std::string_view word();  ///< the identifier that is here, not consumed
  std::string identifier();
  bool eat_word(std::string_view wanted);
  bool number_ahead();
  Result<double> number();
  Result<int64_t> integer();
  Result<std::string> quoted();  ///< after the opening quote

  /// What was expected at the cursor; the message shows the line with a caret.
  Error error(std::string expected) const;
  /// Something else is wrong at an earlier place.
  Error wrong(size_t at, std::string what, Code code = Code::bad_rule) const;

  size_t at() const { return at_; }
  void go(size_t at) { at_ = at; }
  bool at_end() { return peek() == '\0' && at_ >= text_.size(); }
  std::string_view text() const { return text_; }
  /// From `start` to the cursor, without blanks at the end.
  std::string_view since(size_t start) const;
  int line_of(size_t at) const;

 private:
  std::string_view text_, file_;
  size_t at_ = 0;
};

}  // namespace tenon::rewrite
