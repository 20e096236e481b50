// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tenon::llm::jinja {

/// A position in the source; both numbers count from 1, columns in characters.
struct Position {
  int line = 1, column = 1;
};

enum class TokenKind : uint8_t { data, variable_begin, variable_end, block_begin, block_end, name, text, integer, floating, symbol, end };

struct Token {
  TokenKind kind = TokenKind::end;
  Position at;
  std::string text;  ///< data, a name, a text without quotes and escapes, the symbol
  int64_t integer = 0;
  double floating = 0;

  bool is_name(std::string_view name) const { return kind == TokenKind::name && text == name; }
  bool is_symbol(std::string_view symbol) const { return kind == TokenKind::symbol && text == symbol; }
};

/// The tokens of a template, with trim_blocks and lstrip_blocks as transformers sets them; an `end` last. Sources: Jinja2 3.1's
/// documentation of white space control, and its lexer for the order of the rules. Errors: bad_file, at LINE:COLUMN.
Result<std::vector<Token>> tokens_of(std::string_view source);

/// A syntax error: expected and found may be empty.
Error syntax_error(Position at, std::string what);
/// How a token is named in errors: "name 'x'", "end of the template", ...
std::string description_of(const Token& token);

/// The text of a literal without its quotes: Python's escapes. Errors as above.
Result<std::string> unescaped(std::string_view literal, Position at);

}  // namespace tenon::llm::jinja
