// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "llm/template/builtins/filters.h"
#include "llm/template/builtins/tests.h"
#include "llm/template/syntax/parser.h"

namespace tenon::llm::jinja {

Result<ExpressionPtr> Parser::tuple(bool with_conditional, std::string_view end_name, bool in_parentheses) {
  const Position at = current().at;
  ListExpression out{.items = {}, .is_tuple = true};
  bool has_comma = false;
  for (;;) {
    const bool ends = current().kind == TokenKind::variable_end || current().kind == TokenKind::block_end || current().is_symbol(")") ||
                      (!end_name.empty() && current().is_name(end_name));
    if (ends) break;
    out.items.push_back(TRY(with_conditional ? expression() : disjunction()));
    if (!skip_symbol(",")) break;
    has_comma = true;
  }
  if (!has_comma && !out.items.empty()) return std::move(out.items[0]);
  if (!has_comma && !in_parentheses) return unexpected("an expression");
  return make(at, std::move(out));
}

Result<ExpressionPtr> Parser::primary() {
  const Token token = current();
  if (token.kind == TokenKind::name) {
    skip();
    if (token.text == "true" || token.text == "True") return make(token.at, ConstantExpression{Value::boolean(true)});
    if (token.text == "false" || token.text == "False") return make(token.at, ConstantExpression{Value::boolean(false)});
    if (token.text == "none" || token.text == "None") return make(token.at, ConstantExpression{Value::none()});
    for (MacroSyntax* macro : macros_) {
      macro->uses_caller |= token.text == "caller";
      macro->uses_varargs |= token.text == "varargs";
      macro->uses_kwargs |= token.text == "kwargs";
    }
    return make(token.at, NameExpression{index_of(token.text)});
  }
  if (token.kind == TokenKind::text) return constant_text();
  if (token.kind == TokenKind::integer || token.kind == TokenKind::floating) {
    skip();
    const bool is_integer = token.kind == TokenKind::integer;
    return make(token.at, ConstantExpression{is_integer ? Value::integer(token.integer) : Value::floating(token.floating)});
  }
  if (token.is_symbol("[")) return list();
  if (token.is_symbol("{")) return dict();
  if (!skip_symbol("(")) return unexpected("an expression");
  if (++expression_depth_ > kHighest) return unexpected("fewer parentheses");
  ExpressionPtr out = TRY(tuple(true, "", true));
  --expression_depth_;
  TRY(expect_symbol(")"));
  return out;
}

Result<ExpressionPtr> Parser::constant_text() {
  const Position at = current().at;
  std::string text;
  for (; current().kind == TokenKind::text; skip()) text += current().text;
  return make(at, ConstantExpression{Value::text(std::move(text))});
}

Result<ExpressionPtr> Parser::list() {
  const Position at = current().at;
  skip();
  ListExpression out;
  while (!current().is_symbol("]")) {
    if (!out.items.empty()) TRY(expect_symbol(","));
    if (current().is_symbol("]")) break;
    out.items.push_back(TRY(expression()));
  }
  skip();
  return make(at, std::move(out));
}

Result<ExpressionPtr> Parser::dict() {
  const Position at = current().at;
  skip();
  DictExpression out;
  while (!current().is_symbol("}")) {
    if (!out.entries.empty()) TRY(expect_symbol(","));
    if (current().is_symbol("}")) break;
    ExpressionPtr key = TRY(expression());
    TRY(expect_symbol(":"));
    out.entries.emplace_back(std::move(key), TRY(expression()));
  }
  skip();
  return make(at, std::move(out));
}

Result<ExpressionPtr> Parser::postfix(ExpressionPtr object) {
  for (;;) {
    if (current().is_symbol(".")) {
      object = TRY(attribute(std::move(object)));
    } else if (current().is_symbol("[")) {
      object = TRY(item(std::move(object)));
    } else if (current().is_symbol("(")) {
      object = TRY(call(std::move(object)));
    } else {
      return object;
    }
  }
}

Result<ExpressionPtr> Parser::attribute(ExpressionPtr object) {
  const Position at = current().at;
  skip();
  const Token token = current();
  if (token.kind == TokenKind::name) {
    skip();
    return make(at, AttributeExpression{std::move(object), token.text});
  }
  if (token.kind != TokenKind::integer) return unexpected("a name or a number");
  skip();
  ExpressionPtr index = TRY(make(token.at, ConstantExpression{Value::integer(token.integer)}));
  return make(at, ItemExpression{std::move(object), std::move(index)});
}

Result<ExpressionPtr> Parser::item(ExpressionPtr object) {
  const Position at = current().at;
  skip();
  ExpressionPtr first;
  const auto ends_part = [&] { return current().is_symbol(":") || current().is_symbol("]"); };
  if (!current().is_symbol(":")) first = TRY(expression());
  if (!current().is_symbol(":")) {
    if (current().is_symbol(",")) {
      ListExpression indices{.items = {}, .is_tuple = true};
      indices.items.push_back(std::move(first));
      while (skip_symbol(",")) indices.items.push_back(TRY(expression()));
      first = TRY(make(at, std::move(indices)));
    }
    TRY(expect_symbol("]"));
    return make(at, ItemExpression{std::move(object), std::move(first)});
  }
  skip();
  SliceExpression slice{.object = std::move(object), .start = std::move(first), .stop = nullptr, .step = nullptr};
  if (!ends_part()) slice.stop = TRY(expression());
  if (skip_symbol(":") && !ends_part()) slice.step = TRY(expression());
  TRY(expect_symbol("]"));
  return make(at, std::move(slice));
}

Result<ExpressionPtr> Parser::filters_and_tests(ExpressionPtr input) {
  for (;;) {
    if (current().is_symbol("|")) {
      input = TRY(filter_chain(std::move(input)));
    } else if (current().is_name("is")) {
      input = TRY(test(std::move(input)));
    } else if (current().is_symbol("(")) {
      input = TRY(call(std::move(input)));
    } else {
      return input;
    }
  }
}

Result<ExpressionPtr> Parser::filter_chain(ExpressionPtr input) {
  while (skip_symbol("|")) input = TRY(filter(std::move(input)));
  return input;
}

Result<std::string> Parser::dotted_name(std::string_view description) {
  std::string name = TRY(expect_name(description));
  while (skip_symbol(".")) name += "." + TRY(expect_name(description));
  return name;
}

/// Jinja2 refuses an unknown filter of a branch only where the branch is reached, and others before it renders.
Result<void> Parser::check_builtin(std::string_view what, const std::string& name, Position at, bool is_known, std::string nearest) {
  if (is_known || conditions_ > 0 || unknown_) return {};
  Error error = syntax_error(at, "unknown " + std::string(what)).found("'" + name + "'").advice(std::move(nearest));
  if (expressions_ == 0) return std::unexpected(std::move(error));
  unknown_ = std::move(error);
  return {};
}

Result<ExpressionPtr> Parser::filter(ExpressionPtr input) {
  const Position at = current().at;
  FilterExpression out{.input = std::move(input), .name = TRY(dotted_name("a filter's name")), .call = {}};
  if (current().is_symbol("(")) out.call = TRY(call_arguments());
  TRY(check_builtin("filter", out.name, at, is_filter(out.name), nearest_filter(out.name)));
  return make(at, std::move(out));
}

Result<ExpressionPtr> Parser::test(ExpressionPtr input) {
  skip();
  const Position at = current().at;
  const bool negated = skip_name("not");
  TestExpression out{.input = std::move(input), .name = TRY(dotted_name("a test's name")), .call = {}};
  const Token& next = current();
  const bool has_operand = next.kind == TokenKind::name || next.kind == TokenKind::text || next.kind == TokenKind::integer ||
                           next.kind == TokenKind::floating || next.is_symbol("[") || next.is_symbol("{");
  if (next.is_symbol("(")) {
    out.call = TRY(call_arguments());
  } else if (has_operand && !next.is_name("else") && !next.is_name("or") && !next.is_name("and")) {
    if (next.is_name("is")) return unexpected("no second test: write 'a is x and a is y'");
    out.call.positional.push_back(TRY(postfix(TRY(primary()))));
  }
  TRY(check_builtin("test", out.name, at, is_test(out.name), nearest_test(out.name)));
  ExpressionPtr test = TRY(make(at, std::move(out)));
  return negated ? make(at, UnaryExpression{UnaryOperator::logical_not, std::move(test)}) : Result<ExpressionPtr>(std::move(test));
}

Result<ExpressionPtr> Parser::call(ExpressionPtr callee) {
  const Position at = current().at;
  CallExpression out{.callee = std::move(callee), .call = TRY(call_arguments())};
  return make(at, std::move(out));
}

Result<CallSyntax> Parser::call_arguments() {
  const Position begin = current().at;
  TRY(expect_symbol("("));
  CallSyntax call;
  for (bool first = true; !current().is_symbol(")"); first = false) {
    if (!first) TRY(expect_symbol(","));
    if (current().is_symbol(")")) break;
    TRY(call_argument(call, begin));
  }
  skip();
  return call;
}

Result<void> Parser::call_argument(CallSyntax& call, Position begin) {
  const auto misplaced = [&] {
    return syntax_error(begin, "the arguments of a call are out of order").expected("f(a, b, name=c, *list, **dict)");
  };
  if (current().is_symbol("*")) {
    if (call.star || call.double_star) return misplaced();
    skip();
    call.star = TRY(expression());
  } else if (current().is_symbol("**")) {
    if (call.double_star) return misplaced();
    skip();
    call.double_star = TRY(expression());
  } else if (current().kind == TokenKind::name && next_token().is_symbol("=")) {
    if (call.double_star) return misplaced();
    std::string name = current().text;
    skip();
    skip();
    call.named.emplace_back(std::move(name), TRY(expression()));
  } else {
    if (call.star || call.double_star || !call.named.empty()) return misplaced();
    call.positional.push_back(TRY(expression()));
  }
  return {};
}

}  // namespace tenon::llm::jinja
