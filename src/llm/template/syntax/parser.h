// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "llm/template/syntax/syntax.h"

namespace tenon::llm::jinja {

/// Recursive descent with Jinja2's precedences: a filter binds tighter than **, ~ tighter than + and -. Source: Jinja2 3.1's parser.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  Result<Syntax> run();

 private:
  static constexpr int kHighest = 200;  ///< deepest nesting of expressions, and of statements

  // Tokens.
  const Token& current() const { return tokens_[at_]; }
  const Token& next_token() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  void skip() { at_ += at_ + 1 < tokens_.size() ? 1 : 0; }
  bool skip_name(std::string_view name);
  bool skip_symbol(std::string_view symbol);
  Result<void> expect_symbol(std::string_view symbol);
  Result<void> expect(TokenKind kind, std::string_view description);
  Result<std::string> expect_name(std::string_view description);
  Error unexpected(std::string_view expected) const;
  NameIndex index_of(const std::string& name);

  // Expressions.
  Result<ExpressionPtr> make(Position at, decltype(Expression::kind) kind);
  Result<ExpressionPtr> tuple(bool with_conditional, std::string_view end_name = "", bool in_parentheses = false);
  Result<ExpressionPtr> expression() { return conditional(); }
  Result<ExpressionPtr> conditional();
  Result<ExpressionPtr> disjunction();
  Result<ExpressionPtr> conjunction();
  Result<ExpressionPtr> negation();
  Result<ExpressionPtr> comparison();
  Result<ExpressionPtr> sum();
  Result<ExpressionPtr> concatenation();
  Result<ExpressionPtr> product();
  Result<ExpressionPtr> power();
  Result<ExpressionPtr> unary(bool with_filters);
  Result<ExpressionPtr> primary();
  Result<ExpressionPtr> constant_text();
  Result<ExpressionPtr> list();
  Result<ExpressionPtr> dict();
  Result<ExpressionPtr> postfix(ExpressionPtr object);
  Result<ExpressionPtr> attribute(ExpressionPtr object);
  Result<ExpressionPtr> item(ExpressionPtr object);
  Result<ExpressionPtr> filters_and_tests(ExpressionPtr input);
  Result<ExpressionPtr> filter(ExpressionPtr input);
  Result<ExpressionPtr> filter_chain(ExpressionPtr input);
  Result<ExpressionPtr> test(ExpressionPtr input);
  Result<ExpressionPtr> call(ExpressionPtr callee);
  Result<CallSyntax> call_arguments();
  Result<void> call_argument(CallSyntax& call, Position begin);
  Result<std::string> dotted_name(std::string_view description);
  Result<void> check_builtin(std::string_view what, const std::string& name, Position at, bool is_known, std::string nearest);

  // Statements.
  Result<Block> block(std::initializer_list<std::string_view> ends);
  /// Whether the current tag ends the block.
  bool is_at(std::initializer_list<std::string_view> ends) const;
  Result<Block> body(std::initializer_list<std::string_view> ends);
  Result<void> statement(Block& out);
  Result<Statement> if_statement();
  Result<Statement> for_statement();
  Result<Statement> set_statement();
  Result<Statement> macro_statement();
  Result<Statement> call_statement();
  Result<Statement> filter_statement();
  Result<Statement> with_statement();
  Result<Statement> generation_statement();
  Result<void> print_statement(Block& out);
  Result<Statement> loop_control();
  Result<void> signature(MacroSyntax& macro);
  Result<void> macro_body(MacroSyntax& macro, std::string_view end);
  Result<Target> target(bool with_attributes, std::string_view end_name = "");
  Result<Target> simple_target(bool with_attributes);
  Error unknown_statement() const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, NameIndex> index_of_;
  int expression_depth_ = 0, statement_depth_ = 0;
  int loops_ = 0;                     ///< enclosing for statements, up to the innermost macro
  int conditions_ = 0;                ///< enclosing if statements: filters and tests in them may be unknown, since they may never run
  int expressions_ = 0;               ///< enclosing expressions, each of which may prove to be conditional
  std::optional<Error> unknown_;      ///< the first unknown filter or test of an expression that is not known to be conditional
  std::vector<MacroSyntax*> macros_;  ///< enclosing macros, the innermost last
};

}  // namespace tenon::llm::jinja
