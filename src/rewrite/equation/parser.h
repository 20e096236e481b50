// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rewrite/equation/cursor.h"
#include "rewrite/equation/equation.h"

namespace tenon::rewrite {

/// Recursive descent over one equation (or one definition of a predicate); every function leaves the cursor after what it read.
class EquationParser {
 public:
  static constexpr int kMostLevels = 64;
  static constexpr size_t kMostParts = 1024;       ///< terms, and parts of conditions
  static constexpr uint32_t kMostWork = 1u << 16;  ///< parts of one condition, where definitions are written out

  EquationParser(Cursor& cursor, const ir::OpTable& ops, const Names& names, Equation& out)
      : c_(cursor), ops_(ops), names_(names), out_(out), work_(out.expressions.size(), 1) {}

  /// [ name ":" ] and the rest.
  Result<void> named_equation();
  /// terms "=>" terms [ "where" ... ]
  Result<void> equation();
  /// "(" parameters ")" "=" condition { "," condition }
  Result<Definition> definition();
  /// condition { "," condition }, about the names that the equation has by now (it may come from elsewhere).
  Result<void> conditions();

 private:
  enum class Where : uint8_t { left, attribute, right, condition };
  struct NestingLevel;

  Result<void> roots(std::vector<int>& into);
  Result<void> check_roots(size_t start);
  bool mentions(int term, int variable) const;

  // terms (equation_terms.cpp)
  Result<int> term();
  Result<int> plain_term();
  Result<int> name_term();
  Result<int> number_term();
  Result<int> list_term();
  Result<int> either();
  Result<int> computed_term();
  Result<int> op_term();
  Result<std::pair<std::string, std::string>> op_name();
  Error unknown_op(size_t at, const std::string& domain, const std::string& name) const;
  Result<void> operands(Term& t);
  Result<void> operand(Term& t);
  Result<void> attribute(Term& t, std::string name, size_t at);
  Result<void> left_attribute(Term::AttributePattern& given);
  Result<void> captured_attribute(Term::AttributePattern& given);
  Result<void> check_arity(const Term& t, size_t at);
  Result<void> schema(const Term& t, Term::AttributePattern& given, size_t at);

  // expressions (equation_expressions.cpp)
  Result<void> condition();
  Result<bool> bind_names(int condition, size_t start);
  bool mentions_in(int expression, int variable) const;
  Result<int> either_of();
  Result<int> both_of();
  Result<int> negation();
  Result<int> comparison();
  Result<int> sum();
  Result<int> product();
  Result<int> unary();
  Result<int> primary();
  Result<int> list();
  Result<int> word_expression();
  Result<int> call(const std::string& name, size_t at);
  Result<void> check_count(const Expression& call, const std::string& name, int own, size_t at);
  Result<int> inlined(const Definition& definition, const std::vector<int>& arguments);
  Error unknown_function(size_t at, const std::string& name) const;
  bool is_pattern(int expression) const;
  Result<int> arithmetic(std::string_view function, int left, Result<int> right);

  Result<int> variable(Variable::Kind kind);
  Error unbound(size_t at, std::string_view name) const;
  Result<int> add(Term t);
  Result<int> add(Expression e);

  Cursor& c_;
  const ir::OpTable& ops_;
  const Names& names_;
  Equation& out_;
  int depth_ = 0;
  Where where_ = Where::left;
  bool after_arrow_ = false;
  std::set<int> free_;                           ///< names that nothing has bound yet
  std::vector<std::pair<int, size_t>> awaited_;  ///< those that the right side uses, and where
  bool defining_ = false;
  std::vector<uint32_t> work_;  ///< an expression: its parts, shared ones as often as they are met
};

/// One level of nesting, as long as it lives.
struct EquationParser::NestingLevel {
  explicit NestingLevel(EquationParser& parser) : p(parser) { ++p.depth_; }
  ~NestingLevel() { --p.depth_; }
  bool too_deep() const { return p.depth_ > kMostLevels; }
  EquationParser& p;
};

}  // namespace tenon::rewrite
