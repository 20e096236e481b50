// SPDX-License-Identifier: Apache-2.0
#include "llm/template/syntax/parser.h"

namespace tenon::llm::jinja {

bool Parser::skip_name(std::string_view name) {
  const bool found = current().is_name(name);
  if (found) skip();
  return found;
}

bool Parser::skip_symbol(std::string_view symbol) {
  const bool found = current().is_symbol(symbol);
  if (found) skip();
  return found;
}

Error Parser::unexpected(std::string_view expected) const {
  return syntax_error(current().at, "the template's syntax is wrong").expected(std::string(expected)).found(description_of(current()));
}

Result<void> Parser::expect_symbol(std::string_view symbol) {
  if (!skip_symbol(symbol)) return unexpected("'" + std::string(symbol) + "'");
  return {};
}

Result<void> Parser::expect(TokenKind kind, std::string_view description) {
  if (current().kind != kind) return unexpected(description);
  skip();
  return {};
}

Result<std::string> Parser::expect_name(std::string_view description) {
  if (current().kind != TokenKind::name) return unexpected(description);
  std::string name = current().text;
  skip();
  return name;
}

NameIndex Parser::index_of(const std::string& name) {
  const auto [at, is_new] = index_of_.emplace(name, static_cast<NameIndex>(names_.size()));
  if (is_new) names_.push_back(name);
  return at->second;
}

Result<Syntax> Parser::run() {
  Syntax out;
  out.body = TRY(block({}));
  out.names = std::move(names_);
  return out;
}

Result<Syntax> parse(std::string_view source) { return Parser(TRY(tokens_of(source))).run(); }

}  // namespace tenon::llm::jinja
