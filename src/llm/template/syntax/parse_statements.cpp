// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "llm/template/syntax/parser.h"

namespace tenon::llm::jinja {

bool Parser::is_at(std::initializer_list<std::string_view> ends) const {
  return std::ranges::any_of(ends, [&](std::string_view end) { return current().is_name(end); });
}

/// The statements up to one of the ends, whose name is the current token then; to the end of the template where there are no ends.
Result<Block> Parser::block(std::initializer_list<std::string_view> ends) {
  Block out;
  for (;;) {
    const Token& token = current();
    if (token.kind == TokenKind::end) {
      if (ends.size() == 0) return out;
      return unexpected("{% " + std::string(*(ends.end() - 1)) + " %}");
    }
    if (token.kind == TokenKind::data) {
      out.push_back({token.at, DataStatement{token.text}});
      skip();
    } else if (token.kind == TokenKind::variable_begin) {
      const Position at = token.at;
      skip();
      out.push_back({at, PrintStatement{TRY(tuple(true))}});
      TRY(expect(TokenKind::variable_end, "}}"));
    } else {
      skip();
      if (is_at(ends)) return out;
      TRY(statement(out));
      TRY(expect(TokenKind::block_end, "%}"));
    }
  }
}

/// A block after the tag that begins it.
Result<Block> Parser::body(std::initializer_list<std::string_view> ends) {
  skip_symbol(":");
  TRY(expect(TokenKind::block_end, "%}"));
  if (++statement_depth_ > kHighest)
    return fail(Code::limit_exceeded, std::to_string(current().at.line) + ":" + std::to_string(current().at.column),
                "statements are nested too deeply");
  Block out = TRY(block(ends));
  --statement_depth_;
  return out;
}

Error Parser::unknown_statement() const {
  constexpr std::array<std::string_view, 10> kRefused = {"include", "import", "from",  "extends",    "block",
                                                         "do",      "trans",  "debug", "autoescape", "pluralize"};
  constexpr std::array<std::string_view, 16> kKnown = {"if",    "elif", "else",   "endif", "for",      "endfor", "set",   "endset",
                                                       "macro", "call", "filter", "with",  "continue", "raw",    "break", "endmacro"};
  const Token& token = current();
  if (token.kind != TokenKind::name) return unexpected("the name of a statement");
  const std::string place = std::to_string(token.at.line) + ":" + std::to_string(token.at.column);
  if (std::ranges::find(kRefused, token.text) != kRefused.end())
    return fail(Code::not_supported, place, "not supported yet: {% " + token.text + " %} in templates").found("'" + token.text + "'");
  return syntax_error(token.at, "no such statement stands here")
      .found("'" + token.text + "'")
      .advice(std::ranges::find(kKnown, token.text) == kKnown.end() ? did_you_mean(token.text, kKnown) : "");
}

Result<void> Parser::statement(Block& out) {
  using Parse = Result<Statement> (Parser::*)();
  constexpr std::array<std::pair<std::string_view, Parse>, 10> kStatements = {{{"if", &Parser::if_statement},
                                                                               {"for", &Parser::for_statement},
                                                                               {"set", &Parser::set_statement},
                                                                               {"macro", &Parser::macro_statement},
                                                                               {"call", &Parser::call_statement},
                                                                               {"filter", &Parser::filter_statement},
                                                                               {"with", &Parser::with_statement},
                                                                               {"generation", &Parser::generation_statement},
                                                                               {"break", &Parser::loop_control},
                                                                               {"continue", &Parser::loop_control}}};
  if (current().is_name("print")) return print_statement(out);
  const auto at = std::ranges::find_if(kStatements, [&](const auto& row) { return current().is_name(row.first); });
  if (at == kStatements.end()) return unknown_statement();
  out.push_back(TRY((this->*at->second)()));
  return {};
}

Result<Statement> Parser::if_statement() {
  const Position at = current().at;
  IfStatement out;
  ++conditions_;
  bool goes_on = true;
  while (goes_on) {
    skip();
    ExpressionPtr condition = TRY(tuple(false));
    out.branches.emplace_back(std::move(condition), TRY(body({"elif", "else", "endif"})));
    goes_on = current().is_name("elif");
  }
  const bool has_else = current().is_name("else");
  skip();
  if (has_else) {
    out.otherwise = TRY(body({"endif"}));
    skip();
  }
  --conditions_;
  return Statement{at, std::move(out)};
}

Result<Statement> Parser::for_statement() {
  const Position at = current().at;
  skip();
  ForStatement out{.target = TRY(target(false, "in")), .items = nullptr, .condition = nullptr, .body = {}, .otherwise = {}};
  if (!skip_name("in")) return unexpected("'in'");
  out.items = TRY(tuple(false, "recursive"));
  if (skip_name("if")) out.condition = TRY(expression());
  if (current().is_name("recursive"))
    return fail(Code::not_supported, std::to_string(current().at.line) + ":" + std::to_string(current().at.column),
                "not supported yet: recursive loops in templates")
        .found("'recursive'");
  ++loops_;
  out.body = TRY(body({"else", "endfor"}));
  --loops_;
  const bool has_else = current().is_name("else");
  skip();
  if (has_else) {
    out.otherwise = TRY(body({"endfor"}));
    skip();
  }
  return Statement{at, std::move(out)};
}

Result<Statement> Parser::set_statement() {
  const Position at = current().at;
  skip();
  Target name = TRY(target(true));
  if (skip_symbol("=")) return Statement{at, SetStatement{std::move(name), TRY(tuple(true))}};
  SetBlockStatement out{.target = std::move(name), .filter = TRY(filter_chain(nullptr)), .body = TRY(body({"endset"}))};
  skip();
  return Statement{at, std::move(out)};
}

Result<Target> Parser::simple_target(bool with_attributes) {
  const Token token = current();
  if (token.is_symbol("(")) {
    skip();
    Target out = TRY(target(with_attributes));
    TRY(expect_symbol(")"));
    return out;
  }
  const std::string name = TRY(expect_name("a name to assign to"));
  const bool is_constant = name == "true" || name == "false" || name == "none" || name == "True" || name == "False" || name == "None";
  if (is_constant) return syntax_error(token.at, "a constant cannot be assigned to").expected("a name").found("'" + name + "'");
  Target out{.at = token.at, .name = index_of(name), .attribute = {}, .targets = {}};
  if (with_attributes && skip_symbol(".")) out.attribute = TRY(expect_name("the name of an attribute"));
  return out;
}

Result<Target> Parser::target(bool with_attributes, std::string_view end_name) {
  Target out{.at = current().at, .name = 0, .attribute = {}, .targets = {}, .is_tuple = true};
  bool has_comma = false;
  for (;;) {
    if (current().kind == TokenKind::block_end || current().is_symbol(")") || (!end_name.empty() && current().is_name(end_name))) break;
    if (++expression_depth_ > kHighest) return unexpected("fewer parentheses");
    out.targets.push_back(TRY(simple_target(with_attributes)));
    --expression_depth_;
    if (!skip_symbol(",")) break;
    has_comma = true;
  }
  if (out.targets.empty()) return unexpected("a name to assign to");
  if (!has_comma) return std::move(out.targets[0]);
  return out;
}

Result<void> Parser::signature(MacroSyntax& macro) {
  TRY(expect_symbol("("));
  while (!current().is_symbol(")")) {
    if (!macro.parameters.empty()) TRY(expect_symbol(","));
    const Position at = current().at;
    std::string name = TRY(expect_name("the name of a parameter"));
    Parameter parameter{.name = index_of(name), .standard = nullptr};
    if (skip_symbol("=")) {
      parameter.standard = TRY(expression());
    } else if (!macro.parameters.empty() && macro.parameters.back().standard) {
      return syntax_error(at, "a parameter without a standard value follows one with such a value").found("'" + name + "'");
    }
    macro.parameters.push_back(std::move(parameter));
    macro.names.push_back(std::move(name));
  }
  skip();
  return {};
}

Result<void> Parser::macro_body(MacroSyntax& macro, std::string_view end) {
  macros_.push_back(&macro);
  const int loops = std::exchange(loops_, 0);
  macro.body = TRY(body({end}));
  skip();
  loops_ = loops;
  macros_.pop_back();
  return {};
}

Result<Statement> Parser::macro_statement() {
  const Position at = current().at;
  skip();
  auto macro = std::make_shared<MacroSyntax>();
  macro->name = TRY(expect_name("the name of a macro"));
  const NameIndex name = index_of(macro->name);
  TRY(signature(*macro));
  TRY(macro_body(*macro, "endmacro"));
  return Statement{at, MacroStatement{name, std::move(macro)}};
}

Result<Statement> Parser::call_statement() {
  const Position at = current().at;
  skip();
  auto caller = std::make_shared<MacroSyntax>();
  caller->name = "caller";
  if (current().is_symbol("(")) TRY(signature(*caller));
  const Position call_at = current().at;
  ExpressionPtr call = TRY(expression());
  if (!std::holds_alternative<CallExpression>(call->kind))
    return syntax_error(call_at, "a call block calls nothing").expected("{% call macro() %}");
  TRY(macro_body(*caller, "endcall"));
  return Statement{at, CallStatement{std::move(call), std::move(caller)}};
}

Result<Statement> Parser::filter_statement() {
  const Position at = current().at;
  skip();
  ExpressionPtr first = TRY(filter(nullptr));
  FilterStatement out{.filter = TRY(filter_chain(std::move(first))), .body = TRY(body({"endfilter"}))};
  skip();
  return Statement{at, std::move(out)};
}

Result<Statement> Parser::with_statement() {
  const Position at = current().at;
  skip();
  WithStatement out;
  while (current().kind != TokenKind::block_end) {
    if (!out.variables.empty()) TRY(expect_symbol(","));
    Target name = TRY(simple_target(false));
    TRY(expect_symbol("="));
    out.variables.emplace_back(std::move(name), TRY(expression()));
  }
  out.body = TRY(body({"endwith"}));
  skip();
  return Statement{at, std::move(out)};
}

Result<Statement> Parser::generation_statement() {
  const Position at = current().at;
  skip();
  WithStatement out;
  const int loops = std::exchange(loops_, 0);
  out.body = TRY(body({"endgeneration"}));
  loops_ = loops;
  skip();
  return Statement{at, std::move(out)};
}

Result<void> Parser::print_statement(Block& out) {
  const Position at = current().at;
  skip();
  for (bool first = true; current().kind != TokenKind::block_end; first = false) {
    if (!first) TRY(expect_symbol(","));
    out.push_back({at, PrintStatement{TRY(expression())}});
  }
  return {};
}

Result<Statement> Parser::loop_control() {
  const Token token = current();
  if (loops_ == 0) return syntax_error(token.at, "no loop is around").expected("a for statement around").found("'" + token.text + "'");
  skip();
  if (token.text == "break") return Statement{token.at, BreakStatement{}};
  return Statement{token.at, ContinueStatement{}};
}

}  // namespace tenon::llm::jinja
