// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation/equation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "rewrite/equation/parser.h"

namespace tenon::rewrite {

Result<void> EquationParser::named_equation() {
  const size_t start = cursor_.position();
  std::string name = cursor_.identifier();
  if (!name.empty() && cursor_.peek() == ':' && cursor_.peek_second() != ':') {
    cursor_.eat(":");
    equation_.name_ = std::move(name);
  } else {
    cursor_.set_position(start);
  }
  return equation();
}

Result<void> EquationParser::equation() {
  cursor_.skip_blanks();
  const size_t start = cursor_.position();
  TRY(roots(equation_.left));
  TRY(check_roots(start));
  if (!cursor_.eat("=>")) return cursor_.error("'=>'");
  section_ = Section::right_side;
  after_arrow_ = true;
  TRY(roots(equation_.right));
  if (equation_.left.size() != equation_.right.size()) return cursor_.error(fmt::format("{} results on the right", equation_.left.size()));
  if (cursor_.eat_word("where")) TRY(conditions());
  for (const auto& [variable, at] : pending_uses_)
    if (unbound_variables_.contains(variable)) return unbound(at, equation_.variables[static_cast<size_t>(variable)].name);
  return {};
}

Result<Predicate> EquationParser::predicate_definition() {
  in_predicate_ = true;
  if (!cursor_.eat("(")) return cursor_.error("'('");
  do {
    if (!cursor_.eat("?")) return cursor_.error("'?' and the name of a parameter");
    TRY(variable(Variable::Kind::value));
  } while (cursor_.eat(","));
  if (!cursor_.eat(")")) return cursor_.error("',' or ')'");
  if (!cursor_.eat("=")) return cursor_.error("'='");
  const size_t parameters = equation_.variables.size();
  section_ = Section::condition;
  Expression all;
  all.kind = Expression::Kind::conjunction;
  do all.arguments.push_back(TRY(disjunction()));
  while (cursor_.eat(","));
  TRY(add(std::move(all)));
  return Predicate{parameters, std::move(equation_.expressions)};
}

Result<void> EquationParser::roots(std::vector<int>& into) {
  do into.push_back(TRY(term()));
  while (cursor_.eat(","));
  return {};
}

/// Roots after the first are found from a value that they share with those before.
Result<void> EquationParser::check_roots(size_t start) {
  using Kind = Term::Kind;
  for (size_t k = 0; k < equation_.left.size(); ++k) {
    const Kind kind = equation_.terms[equation_.left[k]].kind;
    if (kind != Kind::op && kind != Kind::alternatives)
      return cursor_.error_at(start, "the left side must start with an op")
          .expected("Op(...)")
          .advice("a pattern looks for nodes: name the op that they have");
    if (k == 0) continue;
    bool shares = false;
    for (size_t v = 0; v < equation_.variables.size() && !shares; ++v)
      for (size_t before = 0; before < k && !shares; ++before)
        shares = equation_.variables[v].kind == Variable::Kind::value && mentions(equation_.left[k], static_cast<int>(v)) &&
                 mentions(equation_.left[before], static_cast<int>(v));
    if (!shares)
      return cursor_.error_at(start, fmt::format("root {} has no ?name in common with the roots before it", k + 1))
          .advice("roots of one rule are found from values that they share");
  }
  return {};
}

bool EquationParser::mentions(int term, int variable) const {
  const Term& t = equation_.terms[term];
  if (t.kind == Term::Kind::variable) return t.variable == variable;
  return std::ranges::any_of(t.operands, [&](int operand) { return mentions(operand, variable); });
}

Result<int> EquationParser::variable(Variable::Kind kind) {
  static constexpr std::string_view kKinds[] = {"a value", "a list of operands", "an attribute", "a quantity"};
  const size_t start = cursor_.position();
  std::string name = cursor_.identifier();
  if (name.empty()) return cursor_.error("a name after '?'");
  auto& known = equation_.variables;
  if (name == "_") {
    if (section_ != Section::left_side)
      return cursor_.error_at(start, "?_ matches anything and has no value").expected("a name that the left side binds");
    known.push_back({kind, "_"});
    return static_cast<int>(known.size()) - 1;
  }
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].name != name) continue;
    if (section_ == Section::condition || section_ == Section::attribute || known[i].kind == kind) return static_cast<int>(i);
    return cursor_
        .error_at(start, fmt::format("?{} is {} here and {} elsewhere", name, kKinds[static_cast<int>(kind)],
                                     kKinds[static_cast<int>(known[i].kind)]))
        .advice(section_ == Section::right_side ? fmt::format("const(?{}) makes a constant of it; ?{}... puts operands in", name, name)
                                                : "give the two different names");
  }
  const bool later = after_arrow_ && section_ == Section::attribute;  // a condition may bind it
  if (section_ != Section::left_side && !later && (section_ != Section::condition || in_predicate_)) return unbound(start, name);
  if (later) pending_uses_.emplace_back(static_cast<int>(known.size()), start);
  known.push_back({section_ == Section::left_side ? kind : Variable::Kind::term_value, std::move(name)});
  if (section_ != Section::left_side) unbound_variables_.insert(static_cast<int>(known.size()) - 1);
  return static_cast<int>(known.size()) - 1;
}

Error EquationParser::unbound(size_t at, std::string_view name) const {
  std::vector<std::string_view> names;
  for (const Variable& v : equation_.variables)
    if (v.name != name) names.push_back(v.name);
  const std::string near = nearest_name(name, names);
  return cursor_.error_at(at, fmt::format("?{} is not bound", name))
      .expected(in_predicate_ ? "a parameter" : "a name that the left side binds")
      .advice(near.empty() ? "" : fmt::format("?{}", near));
}

Result<int> EquationParser::add(Term t) {
  if (equation_.terms.size() >= kMaxParts)
    return cursor_.error_at(cursor_.position(), fmt::format("an equation has at most {} terms", kMaxParts), Code::limit_exceeded);
  equation_.terms.push_back(std::move(t));
  return static_cast<int>(equation_.terms.size()) - 1;
}

Result<int> EquationParser::add(Expression e) {
  if (equation_.expressions.size() >= kMaxParts)
    return cursor_.error_at(cursor_.position(), fmt::format("an equation has at most {} parts of conditions", kMaxParts),
                            Code::limit_exceeded);
  uint32_t work = 1;
  for (int a : e.arguments) work = std::min(work + expanded_sizes_[static_cast<size_t>(a)], kMaxExpandedSize + 1);
  if (work > kMaxExpandedSize)
    return cursor_.error_at(cursor_.position(), fmt::format("a condition has at most {} parts, definitions written out", kMaxExpandedSize),
                            Code::limit_exceeded);
  expanded_sizes_.push_back(work);
  equation_.expressions.push_back(std::move(e));
  return static_cast<int>(equation_.expressions.size()) - 1;
}

Result<Equation> Equation::parse(std::string_view text, const ir::OpTable& ops, const UserFunctions& user_functions) {
  Equation e;
  Cursor cursor(text, "");
  TRY(EquationParser(cursor, ops, user_functions, e).named_equation());
  if (!cursor.at_end()) return cursor.error("the end");
  return e;
}

}  // namespace tenon::rewrite
