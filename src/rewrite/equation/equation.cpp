// SPDX-License-Identifier: Apache-2.0
#include "rewrite/equation/equation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "rewrite/equation/parser.h"

namespace tenon::rewrite {

Result<void> EquationParser::named_equation() {
  const size_t start = c_.at();
  std::string name = c_.identifier();
  if (!name.empty() && c_.peek() == ':' && c_.peek_second() != ':') {
    c_.eat(":");
    out_.name_ = std::move(name);
  } else {
    c_.go(start);
  }
  return equation();
}

Result<void> EquationParser::equation() {
  c_.skip();
  const size_t start = c_.at();
  TRY(roots(out_.left));
  TRY(check_roots(start));
  if (!c_.eat("=>")) return c_.error("'=>'");
  where_ = Where::right;
  after_arrow_ = true;
  TRY(roots(out_.right));
  if (out_.left.size() != out_.right.size()) return c_.error(fmt::format("{} results on the right", out_.left.size()));
  if (c_.eat_word("where")) TRY(conditions());
  for (const auto& [variable, at] : awaited_)
    if (free_.contains(variable)) return unbound(at, out_.variables[static_cast<size_t>(variable)].name);
  return {};
}

Result<Definition> EquationParser::definition() {
  defining_ = true;
  if (!c_.eat("(")) return c_.error("'('");
  do {
    if (!c_.eat("?")) return c_.error("'?' and the name of a parameter");
    TRY(variable(Variable::Kind::value));
  } while (c_.eat(","));
  if (!c_.eat(")")) return c_.error("',' or ')'");
  if (!c_.eat("=")) return c_.error("'='");
  const size_t parameters = out_.variables.size();
  where_ = Where::condition;
  Expression all;
  all.kind = Expression::Kind::all;
  do all.arguments.push_back(TRY(either_of()));
  while (c_.eat(","));
  TRY(add(std::move(all)));
  return Definition{parameters, std::move(out_.expressions)};
}

Result<void> EquationParser::roots(std::vector<int>& into) {
  do into.push_back(TRY(term()));
  while (c_.eat(","));
  return {};
}

/// Roots after the first are found from a value that they share with those before.
Result<void> EquationParser::check_roots(size_t start) {
  using Kind = Term::Kind;
  for (size_t k = 0; k < out_.left.size(); ++k) {
    const Kind kind = out_.terms[out_.left[k]].kind;
    if (kind != Kind::op && kind != Kind::either)
      return c_.wrong(start, "the left side must start with an op")
          .expected("Op(...)")
          .advice("a pattern looks for nodes: name the op that they have");
    if (k == 0) continue;
    bool shares = false;
    for (size_t v = 0; v < out_.variables.size() && !shares; ++v)
      for (size_t before = 0; before < k && !shares; ++before)
        shares = out_.variables[v].kind == Variable::Kind::value && mentions(out_.left[k], static_cast<int>(v)) &&
                 mentions(out_.left[before], static_cast<int>(v));
    if (!shares)
      return c_.wrong(start, fmt::format("root {} has no ?name in common with the roots before it", k + 1))
          .advice("roots of one rule are found from values that they share");
  }
  return {};
}

bool EquationParser::mentions(int term, int variable) const {
  const Term& t = out_.terms[term];
  if (t.kind == Term::Kind::variable) return t.variable == variable;
  return std::ranges::any_of(t.operands, [&](int operand) { return mentions(operand, variable); });
}

Result<int> EquationParser::variable(Variable::Kind kind) {
  static constexpr std::string_view kKinds[] = {"a value", "a list of operands", "an attribute", "a quantity"};
  const size_t start = c_.at();
  std::string name = c_.identifier();
  if (name.empty()) return c_.error("a name after '?'");
  auto& known = out_.variables;
  if (name == "_") {
    if (where_ != Where::left) return c_.wrong(start, "?_ matches anything and has no value").expected("a name that the left side binds");
    known.push_back({kind, "_"});
    return static_cast<int>(known.size()) - 1;
  }
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].name != name) continue;
    if (where_ == Where::condition || where_ == Where::attribute || known[i].kind == kind) return static_cast<int>(i);
    return c_
        .wrong(start, fmt::format("?{} is {} here and {} elsewhere", name, kKinds[static_cast<int>(kind)],
                                  kKinds[static_cast<int>(known[i].kind)]))
        .advice(where_ == Where::right ? fmt::format("const(?{}) makes a constant of it; ?{}... puts operands in", name, name)
                                       : "give the two different names");
  }
  const bool later = after_arrow_ && where_ == Where::attribute;  // a condition may bind it
  if (where_ != Where::left && !later && (where_ != Where::condition || defining_)) return unbound(start, name);
  if (later) awaited_.emplace_back(static_cast<int>(known.size()), start);
  known.push_back({where_ == Where::left ? kind : Variable::Kind::term_value, std::move(name)});
  if (where_ != Where::left) free_.insert(static_cast<int>(known.size()) - 1);
  return static_cast<int>(known.size()) - 1;
}

Error EquationParser::unbound(size_t at, std::string_view name) const {
  std::vector<std::string_view> names;
  for (const Variable& v : out_.variables)
    if (v.name != name) names.push_back(v.name);
  const std::string near = nearest_name(name, names);
  return c_.wrong(at, fmt::format("?{} is not bound", name))
      .expected(defining_ ? "a parameter" : "a name that the left side binds")
      .advice(near.empty() ? "" : fmt::format("?{}", near));
}

Result<int> EquationParser::add(Term t) {
  if (out_.terms.size() >= kMostParts)
    return c_.wrong(c_.at(), fmt::format("an equation has at most {} terms", kMostParts), Code::limit_exceeded);
  out_.terms.push_back(std::move(t));
  return static_cast<int>(out_.terms.size()) - 1;
}

Result<int> EquationParser::add(Expression e) {
  if (out_.expressions.size() >= kMostParts)
    return c_.wrong(c_.at(), fmt::format("an equation has at most {} parts of conditions", kMostParts), Code::limit_exceeded);
  uint32_t work = 1;
  for (int a : e.arguments) work = std::min(work + work_[static_cast<size_t>(a)], kMostWork + 1);
  if (work > kMostWork)
    return c_.wrong(c_.at(), fmt::format("a condition has at most {} parts, definitions written out", kMostWork), Code::limit_exceeded);
  work_.push_back(work);
  out_.expressions.push_back(std::move(e));
  return static_cast<int>(out_.expressions.size()) - 1;
}

Result<Equation> Equation::parse(std::string_view text, const ir::OpTable& ops, const Names& names) {
  Equation e;
  Cursor cursor(text, "");
  TRY(EquationParser(cursor, ops, names, e).named_equation());
  if (!cursor.at_end()) return cursor.error("the end");
  return e;
}

}  // namespace tenon::rewrite
