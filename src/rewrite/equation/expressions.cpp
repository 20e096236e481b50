// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "rewrite/equation/functions.h"
#include "rewrite/equation/parser.h"

namespace tenon::rewrite {

using ExpressionKind = Expression::Kind;

Result<void> EquationParser::conditions() {
  section_ = Section::condition;
  do TRY(condition());
  while (cursor_.eat(","));
  return {};
}

Result<void> EquationParser::condition() {
  cursor_.skip_blanks();
  const size_t start = cursor_.position();
  Condition c;
  c.expression = TRY(disjunction());
  c.binds = TRY(bind_names(c.expression, start));
  c.text = std::string(cursor_.text_since(start));
  equation_.conditions.push_back(std::move(c));
  return {};
}

/// Binds the names in a condition that are not bound yet: they must be the right side of one `==`, or elements of a list there. Returns
/// whether there are such names.
Result<bool> EquationParser::bind_names(int condition, size_t start) {
  const auto fresh = [&](int i) {
    return equation_.expressions[i].kind == ExpressionKind::variable && unbound_variables_.contains(equation_.expressions[i].variable);
  };
  Expression& e = equation_.expressions[condition];
  std::set<int> bound;
  if (e.kind == ExpressionKind::compare && e.compare == Expression::Compare::equal) {
    if (fresh(e.arguments[0]) && !fresh(e.arguments[1])) std::swap(e.arguments[0], e.arguments[1]);
    const Expression& pattern = equation_.expressions[e.arguments[1]];
    if (fresh(e.arguments[1])) bound.insert(pattern.variable);
    else if (pattern.kind == ExpressionKind::list)
      for (int a : pattern.arguments)
        if (fresh(a)) bound.insert(equation_.expressions[a].variable);
  }
  for (int variable : unbound_variables_) {
    if (bound.contains(variable) || !mentions_in(condition, variable)) continue;
    return cursor_.error_at(start, fmt::format("?{} is not bound", equation_.variables[variable].name))
        .expected("a name that the left side binds")
        .advice("a condition binds a name as in shape(?x) == [?n, 4] or ?n == dim(?x, 0)");
  }
  if (bound.empty()) return false;
  for (int variable : bound) {
    const bool elsewhere = mentions_in(e.arguments[0], variable);
    if (elsewhere) return cursor_.error_at(start, fmt::format("?{} is on both sides of what binds it", equation_.variables[variable].name));
    unbound_variables_.erase(variable);
  }
  return true;
}

bool EquationParser::mentions_in(int expression, int variable) const {
  const Expression& e = equation_.expressions[expression];
  if (e.kind == ExpressionKind::variable) return e.variable == variable;
  return std::ranges::any_of(e.arguments, [&](int a) { return mentions_in(a, variable); });
}

Result<int> EquationParser::disjunction() {
  Expression e;
  e.kind = ExpressionKind::disjunction;
  do e.arguments.push_back(TRY(conjunction()));
  while (cursor_.eat_word("or"));
  return e.arguments.size() == 1 ? e.arguments[0] : add(std::move(e));
}

Result<int> EquationParser::conjunction() {
  Expression e;
  e.kind = ExpressionKind::conjunction;
  do e.arguments.push_back(TRY(negation()));
  while (cursor_.eat_word("and"));
  return e.arguments.size() == 1 ? e.arguments[0] : add(std::move(e));
}

Result<int> EquationParser::negation() {
  if (!cursor_.eat_word("not")) return comparison();
  const NestingLevel level(*this);
  if (level.too_deep())
    return cursor_.error_at(cursor_.position(), fmt::format("conditions nest at most {} levels deep", kMaxLevels), Code::limit_exceeded);
  Expression e;
  e.kind = ExpressionKind::negation;
  e.arguments.push_back(TRY(negation()));
  return add(std::move(e));
}

Result<int> EquationParser::comparison() {
  using Compare = Expression::Compare;
  static constexpr std::pair<std::string_view, Compare> kCompare[] = {{"==", Compare::equal},   {"!=", Compare::differs},
                                                                      {"<=", Compare::at_most}, {">=", Compare::at_least},
                                                                      {"<", Compare::less},     {">", Compare::greater}};
  const int left = TRY(sum());
  for (const auto& [token, compare] : kCompare) {
    if (!cursor_.eat(token)) continue;
    Expression e;
    e.kind = ExpressionKind::compare;
    e.compare = compare;
    e.arguments = {left, TRY(sum())};
    if (compare != Compare::equal && compare != Compare::differs && is_pattern(e.arguments[1]))
      return cursor_.error("a quantity (a pattern has no order)");
    return add(std::move(e));
  }
  return left;
}

Result<int> EquationParser::arithmetic(std::string_view function, int left, Result<int> right) {
  Expression e;
  e.kind = ExpressionKind::call;
  e.function = find_function(function);
  e.arguments = {left, TRY(std::move(right))};
  return add(std::move(e));
}

Result<int> EquationParser::sum() {
  int left = TRY(product());
  for (;;) {
    if (cursor_.eat("+")) left = TRY(arithmetic("add", left, product()));
    else if (cursor_.eat("-")) left = TRY(arithmetic("subtract", left, product()));
    else return left;
  }
}

Result<int> EquationParser::product() {
  int left = TRY(unary());
  for (;;) {
    if (cursor_.eat("*")) left = TRY(arithmetic("multiply", left, unary()));
    else if (cursor_.eat("/")) left = TRY(arithmetic("divide", left, unary()));
    else return left;
  }
}

Result<int> EquationParser::unary() {
  const NestingLevel level(*this);
  if (level.too_deep())
    return cursor_.error_at(cursor_.position(), fmt::format("expressions nest at most {} levels deep", kMaxLevels), Code::limit_exceeded);
  if (cursor_.peek() != '-' || cursor_.number_ahead()) return primary();
  cursor_.eat("-");
  Expression zero;
  const int left = TRY(add(std::move(zero)));
  return arithmetic("subtract", left, unary());
}

Result<int> EquationParser::primary() {
  Expression e;
  if (cursor_.eat("?")) {
    e.kind = ExpressionKind::variable;
    e.variable = TRY(variable(Variable::Kind::term_value));
  } else if (cursor_.eat("\"")) {
    e.literal = TRY(cursor_.quoted());
  } else if (cursor_.eat("[")) {
    return list();
  } else if (cursor_.eat("(")) {
    const int inner = TRY(disjunction());
    if (!cursor_.eat(")")) return cursor_.error("')'");
    return inner;
  } else if (cursor_.number_ahead()) {
    const size_t start = cursor_.position();
    const double value = TRY(cursor_.number());
    const bool whole = cursor_.text_since(start).find_first_of(".eEi") == std::string_view::npos;
    if (whole) {
      cursor_.set_position(start);
      e.literal = TRY(cursor_.integer());
    } else {
      e.literal = value;
    }
  } else {
    return word_expression();
  }
  return add(std::move(e));
}

/// After '['. A list of integers (or of numbers) is one literal.
Result<int> EquationParser::list() {
  Expression e;
  e.kind = ExpressionKind::list;
  bool whole = true;
  for (bool more = !cursor_.eat("]"); more; more = cursor_.eat(",")) {
    Expression wild;
    wild.kind = cursor_.eat_word("_") ? ExpressionKind::wildcard : cursor_.eat("...") ? ExpressionKind::ellipsis : ExpressionKind::literal;
    e.arguments.push_back(TRY(wild.kind == ExpressionKind::literal ? sum() : add(std::move(wild))));
    const Expression& last = equation_.expressions[e.arguments.back()];
    whole &= last.kind == ExpressionKind::literal && std::holds_alternative<int64_t>(last.literal);
  }
  if (!e.arguments.empty() && !cursor_.eat("]")) return cursor_.error("',' or ']'");
  if (std::ranges::count_if(e.arguments, [&](int i) { return equation_.expressions[i].kind == ExpressionKind::ellipsis; }) > 1)
    return cursor_.error("one '...' in a list");
  if (!whole) return add(std::move(e));
  ir::Ints ints;
  for (int i : e.arguments) ints.push_back(std::get<int64_t>(equation_.expressions[i].literal));
  Expression literal;
  literal.literal = std::move(ints);
  return add(std::move(literal));
}

bool EquationParser::is_pattern(int expression) const {
  const Expression& e = equation_.expressions[expression];
  if (e.kind == ExpressionKind::wildcard || e.kind == ExpressionKind::ellipsis) return true;
  return e.kind == ExpressionKind::list && std::ranges::any_of(e.arguments, [&](int a) { return is_pattern(a); });
}

/// An element type, or a function.
Result<int> EquationParser::word_expression() {
  cursor_.skip_blanks();
  const size_t start = cursor_.position();
  const std::string name = cursor_.identifier();
  if (cursor_.peek() == '(') return call(name, start);
  if (const auto dtype = dtype_named(name)) {
    Expression e;
    e.literal = *dtype;
    return add(std::move(e));
  }
  const bool known = find_function(name) || user_functions_.functions.contains(name) || user_functions_.predicates.contains(name);
  if (known) return cursor_.error("'('");
  cursor_.set_position(start);
  return cursor_.error("a literal, ?name, an element type or a function");
}

/// own: how many arguments a definition of the rule file has.
Result<void> EquationParser::check_count(const Expression& e, const std::string& name, int own, size_t at) {
  const auto count = static_cast<int>(e.arguments.size());
  const int least = e.function ? e.function->min_arguments : e.custom_function ? e.custom_function->min_arguments : own;
  const int most = e.function ? e.function->max_arguments : e.custom_function ? e.custom_function->max_arguments : own;
  if (count >= least && count <= most) return {};
  return cursor_.error_at(at, fmt::format("{} has another number of arguments", name))
      .expected(e.function      ? std::string(e.function->usage)
                : least == most ? fmt::format("{}", least)
                                : fmt::format("{} to {}", least, most))
      .found(fmt::format("{}", count));
}

Result<int> EquationParser::call(const std::string& name, size_t at) {
  Expression e;
  e.kind = ExpressionKind::call;
  e.function = find_function(name);
  const auto definition = user_functions_.predicates.find(name);
  const auto named = user_functions_.functions.find(name);
  if (named != user_functions_.functions.end()) e.custom_function = named->second;
  if (!e.function && !e.custom_function && definition == user_functions_.predicates.end()) return unknown_function(at, name);
  cursor_.eat("(");
  if (!cursor_.eat(")")) {
    do e.arguments.push_back(TRY(sum()));
    while (cursor_.eat(","));
    if (!cursor_.eat(")")) return cursor_.error("',' or ')'");
  }
  const int own = definition == user_functions_.predicates.end() ? 0 : static_cast<int>(definition->second.parameters);
  TRY(check_count(e, name, own, at));
  for (int a : e.arguments)
    if (is_pattern(a))
      return cursor_.error_at(at, fmt::format("{} does not apply to a pattern", name)).expected("a list without '_' and '...'");
  if (!e.function && !e.custom_function) return inline_predicate(definition->second, e.arguments);
  return add(std::move(e));
}

/// A copy of the definition with the arguments in place of its parameters.
Result<int> EquationParser::inline_predicate(const Predicate& definition, const std::vector<int>& arguments) {
  std::vector<int> place;
  for (const Expression& part : definition.expressions) {
    if (part.kind == ExpressionKind::variable) {
      place.push_back(arguments[static_cast<size_t>(part.variable)]);
      continue;
    }
    Expression copy = part;
    for (int& a : copy.arguments) a = place[static_cast<size_t>(a)];
    place.push_back(TRY(add(std::move(copy))));
  }
  return place.back();
}

Error EquationParser::unknown_function(size_t at, const std::string& name) const {
  std::vector<std::string_view> known;
  for (const Function& f : functions()) known.push_back(f.name);
  for (const auto& [n, f] : user_functions_.functions) known.push_back(n);
  for (const auto& [n, d] : user_functions_.predicates) known.push_back(n);
  const std::string near = nearest_name(name, known);
  return cursor_.error_at(at, fmt::format("there is no function {}", name))
      .expected("a function or a predicate")
      .found(name)
      .advice(near.empty() ? "docs/rules-language.md lists them" : near);
}

}  // namespace tenon::rewrite
