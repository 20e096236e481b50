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

/// A recursive-descent parser of one equation or of one predicate. Each function parses one rule of the grammar, leaves the cursor after
/// what it read, and returns the index of the term or expression that it has added to the equation.
class EquationParser {
 public:
  static constexpr int kMaxLevels = 64;
  static constexpr size_t kMaxParts = 1024;               ///< terms of an equation, and expressions
  static constexpr uint32_t kMaxExpandedSize = 1u << 16;  ///< expressions of one condition, predicates inlined

  EquationParser(Cursor& cursor, const ir::OpTable& ops, const UserFunctions& user_functions, Equation& out)
      : cursor_(cursor), ops_(ops), user_functions_(user_functions), equation_(out), expanded_sizes_(out.expressions.size(), 1) {}

  /// [ name ":" ] equation
  Result<void> named_equation();
  /// terms "=>" terms [ "where" ... ]
  Result<void> equation();
  /// "(" parameters ")" "=" condition { "," condition }
  Result<Predicate> predicate_definition();
  /// condition { "," condition }, over the variables that the equation has already (it may be made from graphs).
  Result<void> conditions();

 private:
  /// The part of the equation that is being parsed. attribute: within an attribute's expression, or a computed constant's.
  enum class Section : uint8_t { left_side, attribute, right_side, condition };
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
  Result<int> alternatives();
  Result<int> computed_term();
  Result<int> op_term();
  Result<std::pair<std::string, std::string>> op_name();
  Error unknown_op(size_t at, const std::string& domain, const std::string& name) const;
  Result<void> operands(Term& t);
  Result<void> operand(Term& t);
  Result<void> attribute(Term& t, std::string name, size_t at);
  Result<void> left_attribute(Term::AttributePattern& pattern);
  Result<void> captured_attribute(Term::AttributePattern& pattern);
  Result<void> check_arity(const Term& t, size_t at);
  Result<void> schema(const Term& t, Term::AttributePattern& pattern, size_t at);

  // expressions (equation_expressions.cpp)
  Result<void> condition();
  Result<bool> bind_names(int condition, size_t start);
  bool mentions_in(int expression, int variable) const;
  Result<int> disjunction();
  Result<int> conjunction();
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
  Result<int> inline_predicate(const Predicate& definition, const std::vector<int>& arguments);
  Error unknown_function(size_t at, const std::string& name) const;
  bool is_pattern(int expression) const;
  Result<int> arithmetic(std::string_view function, int left, Result<int> right);

  Result<int> variable(Variable::Kind kind);
  Error unbound(size_t at, std::string_view name) const;
  Result<int> add(Term t);
  Result<int> add(Expression e);

  Cursor& cursor_;
  const ir::OpTable& ops_;
  const UserFunctions& user_functions_;
  Equation& equation_;
  int depth_ = 0;
  Section section_ = Section::left_side;
  bool after_arrow_ = false;         ///< the left side has been read
  std::set<int> unbound_variables_;  ///< variables that a condition may still bind
  std::vector<std::pair<int, size_t>>
      pending_uses_;                      ///< variables of the right side that a condition must bind, and the position of the use
  bool in_predicate_ = false;             ///< parses a predicate's definition
  std::vector<uint32_t> expanded_sizes_;  ///< by expression: how many expressions its tree has, shared ones counted at each use
};

/// Counts one level of nesting while it lives.
struct EquationParser::NestingLevel {
  explicit NestingLevel(EquationParser& parser) : p(parser) { ++p.depth_; }
  ~NestingLevel() { --p.depth_; }
  bool too_deep() const { return p.depth_ > kMaxLevels; }
  EquationParser& p;
};

}  // namespace tenon::rewrite
