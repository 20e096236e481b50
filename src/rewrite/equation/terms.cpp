// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/nearest.h"
#include "ops/core/op.h"
#include "ops/core/schema.h"
#include "rewrite/equation/parser.h"

namespace tenon::rewrite {
namespace {

using AttributeKind = ops::AttributeSpec::Kind;

/// Takes the default from the op's schema, where it is one that an equation can compare with.
void take_default(const ops::AttributeSpec& spec, Term::AttributePattern& pattern) {
  if (spec.default_text.empty()) return;
  double number = 0;
  std::from_chars(spec.default_text.data(), spec.default_text.data() + spec.default_text.size(), number);
  pattern.has_default = true;
  if (spec.kind == AttributeKind::text) pattern.default_value = std::string(spec.default_text);
  else if (spec.kind == AttributeKind::number) pattern.default_value = static_cast<float>(number);
  else if (spec.kind == AttributeKind::integer) pattern.default_value = static_cast<int64_t>(number);
  else pattern.has_default = false;
}

bool fits(AttributeKind kind, const TermValue& d) {
  switch (kind) {
    case AttributeKind::integer: return std::holds_alternative<int64_t>(d) || std::holds_alternative<DType>(d);
    case AttributeKind::number: return as_number(d).has_value();
    case AttributeKind::text: return std::holds_alternative<std::string>(d);
    case AttributeKind::ints: return std::holds_alternative<ir::Ints>(d) || std::holds_alternative<DimList>(d);
    case AttributeKind::floats: return std::holds_alternative<ir::Ints>(d) || std::holds_alternative<Numbers>(d);
    default: return true;
  }
}

}  // namespace

Result<int> EquationParser::term() {
  const NestingLevel level(*this);
  if (level.too_deep())
    return cursor_.error_at(cursor_.position(), fmt::format("terms nest at most {} levels deep", kMaxLevels), Code::limit_exceeded);
  const int t = TRY(plain_term());
  if (cursor_.peek() != '.' || !std::isdigit(static_cast<unsigned char>(cursor_.peek_second()))) return t;
  if (equation_.terms[t].kind != Term::Kind::op) return cursor_.error("',' (only an op has several results)");
  cursor_.eat(".");
  const size_t start = cursor_.position();
  const int64_t index = TRY(cursor_.integer());
  const int most = equation_.terms[t].op->max_outputs;
  if (index > 255 || (most >= 0 && index >= most))
    return cursor_.error_at(start, fmt::format("{} has no result {}", equation_.terms[t].op->name, index))
        .expected(fmt::format("a number below {}", most));
  equation_.terms[t].result = static_cast<uint8_t>(index);
  return t;
}

Result<int> EquationParser::plain_term() {
  if (cursor_.eat("?")) return name_term();
  if (cursor_.number_ahead()) return number_term();
  if (cursor_.eat("[")) return list_term();
  if (cursor_.eat("(")) return alternatives();
  if (cursor_.eat_word("_")) return add(Term{});
  if (section_ == Section::right_side && cursor_.eat_word("const")) return computed_term();
  return op_term();
}

Result<int> EquationParser::name_term() {
  Term t;
  const size_t start = cursor_.position();
  const size_t end = start + cursor_.word().size();
  const bool rest = cursor_.text().substr(end).starts_with("...");
  t.kind = rest ? Term::Kind::variadic : Term::Kind::variable;
  t.variable = TRY(variable(rest ? Variable::Kind::variadic : Variable::Kind::value));
  if (rest) cursor_.eat("...");
  else if (cursor_.text().substr(cursor_.position()).starts_with("?")) t.optional = cursor_.eat("?");
  return add(std::move(t));
}

Result<int> EquationParser::number_term() {
  Term t;
  t.kind = Term::Kind::number;
  t.number = TRY(cursor_.number());
  if (cursor_.peek() == '~') {
    if (section_ == Section::right_side) return cursor_.error("',' or ')' (a tolerance compares, and the right side compares nothing)");
    cursor_.eat("~");
    t.tolerance = TRY(cursor_.number());
  }
  return add(std::move(t));
}

/// Left: integers. Right: anything that makes a list.
Result<int> EquationParser::list_term() {
  Term t;
  if (section_ == Section::right_side) {
    section_ = Section::attribute;
    const int e = TRY(list());
    section_ = Section::right_side;
    if (is_pattern(e)) return cursor_.error("a list without '_' and '...' (there is nothing to compare on the right)");
    if (const auto* whole = std::get_if<ir::Ints>(&equation_.expressions[e].literal);
        whole && equation_.expressions[e].kind == Expression::Kind::literal) {
      t.kind = Term::Kind::ints;
      t.ints = *whole;
    } else {
      t.kind = Term::Kind::computed_constant;
      t.expression = e;
    }
    return add(std::move(t));
  }
  t.kind = Term::Kind::ints;
  if (cursor_.eat("]")) return add(std::move(t));
  do t.ints.push_back(TRY(cursor_.integer()));
  while (cursor_.eat(","));
  if (!cursor_.eat("]")) return cursor_.error("',' or ']'");
  return add(std::move(t));
}

Result<int> EquationParser::alternatives() {
  Term t;
  t.kind = Term::Kind::alternatives;
  do t.operands.push_back(TRY(term()));
  while (section_ == Section::left_side && cursor_.eat("|"));
  if (!cursor_.eat(")")) return cursor_.error(section_ == Section::left_side ? "'|' or ')'" : "')'");
  return t.operands.size() == 1 ? t.operands[0] : add(std::move(t));
}

/// const(expression) or const(expression, dtype)
Result<int> EquationParser::computed_term() {
  Term t;
  t.kind = Term::Kind::computed_constant;
  if (!cursor_.eat("(")) return cursor_.error("'('");
  section_ = Section::attribute;
  t.expression = TRY(sum());
  if (cursor_.eat(",")) t.dtype = TRY(sum());
  section_ = Section::right_side;
  if (!cursor_.eat(")")) return cursor_.error(t.dtype < 0 ? "',' and an element type, or ')'" : "')'");
  return add(std::move(t));
}

Result<std::pair<std::string, std::string>> EquationParser::op_name() {
  std::string domain, name = cursor_.identifier();
  const auto dot = [&] { return cursor_.peek() == '.' && std::isalpha(static_cast<unsigned char>(cursor_.peek_second())); };
  while (!name.empty() && (dot() || cursor_.eat("::"))) {
    if (dot()) cursor_.eat(".");
    domain += (domain.empty() ? "" : ".") + name;
    name = cursor_.identifier();
  }
  if (name.empty())
    return cursor_.error(section_ == Section::left_side ? "a term: Op(...), ?name, a number, [integers], _ or (A | B)"
                                                        : "a term: Op(...), ?name, a number, [list], _ or const(...)");
  return std::pair(domain, name);
}

Error EquationParser::unknown_op(size_t at, const std::string& domain, const std::string& name) const {
  const auto written = [](std::string_view d, std::string_view n) { return d.empty() ? std::string(n) : fmt::format("{}::{}", d, n); };
  std::vector<std::string> known;
  for (const ops::OpDef* def : ops::all_ops()) known.push_back(written(def->domain, def->name));
  const std::string full = written(domain, name), near = nearest_name(full, known);
  return cursor_.error_at(at, fmt::format("not supported yet: op {}", full), Code::not_supported)
      .advice(near.empty() ? "tenon's ops are listed in docs/ops.md; one of a plugin needs its library in addition to the rules" : near);
}

Result<int> EquationParser::op_term() {
  Term t;
  t.kind = Term::Kind::op;
  cursor_.skip_blanks();
  const size_t start = cursor_.position();
  auto [domain, name] = TRY(op_name());
  if (cursor_.peek() != '(') return cursor_.error("'('");
  t.op = ops_.find(domain, name);
  if (!t.op) return unknown_op(start, domain, name);
  cursor_.eat("(");
  TRY(operands(t));
  TRY(check_arity(t, start));
  return add(std::move(t));
}

Result<void> EquationParser::operands(Term& t) {
  if (cursor_.eat(")")) return {};
  do TRY(operand(t));
  while (cursor_.eat(","));
  if (!cursor_.eat(")")) return cursor_.error("',' or ')'");
  return {};
}

Result<void> EquationParser::operand(Term& t) {
  cursor_.skip_blanks();
  const size_t start = cursor_.position();
  std::string name = cursor_.identifier();
  if (!name.empty() && cursor_.peek() == '=' && cursor_.peek_second() != '>') {
    cursor_.eat("=");
    return attribute(t, std::move(name), start);
  }
  cursor_.set_position(start);
  t.operands.push_back(TRY(term()));
  return {};
}

Result<void> EquationParser::attribute(Term& t, std::string name, size_t at) {
  Term::AttributePattern pattern;
  pattern.name = std::move(name);
  for (const Term::AttributePattern& other : t.attributes)
    if (other.name == pattern.name) return cursor_.error_at(at, fmt::format("attribute {} is given twice", pattern.name));
  if (section_ == Section::left_side) {
    TRY(left_attribute(pattern));
  } else {
    section_ = Section::attribute;
    pattern.expression = TRY(sum());
    section_ = Section::right_side;
    const Expression& e = equation_.expressions[pattern.expression];
    if (e.kind == Expression::Kind::variable && equation_.variables[e.variable].kind == Variable::Kind::value)
      return cursor_
          .error_at(at, fmt::format("attribute {} cannot be the graph value ?{}", pattern.name, equation_.variables[e.variable].name))
          .advice(fmt::format("value(?{0}) is the number of a constant, ints(?{0}) its integers", equation_.variables[e.variable].name));
  }
  TRY(schema(t, pattern, at));
  t.attributes.push_back(std::move(pattern));
  return {};
}

/// After the "?" of `?name`, or of `?name else LITERAL`.
Result<void> EquationParser::captured_attribute(Term::AttributePattern& pattern) {
  Expression e;
  e.kind = Expression::Kind::variable;
  e.variable = TRY(variable(Variable::Kind::attribute));
  pattern.expression = TRY(add(std::move(e)));
  if (!cursor_.eat_word("else")) return {};
  const Expression& otherwise = equation_.expressions[TRY(unary())];
  auto value = otherwise.kind == Expression::Kind::literal ? attribute_of(otherwise.literal) : std::nullopt;
  if (!value) return cursor_.error("a literal after 'else'");
  pattern.default_value = std::move(*value);
  pattern.has_default = true;
  return {};
}

/// A literal to compare with, or `?name` to capture, or a function of names: captured under a hidden name, and a condition.
Result<void> EquationParser::left_attribute(Term::AttributePattern& pattern) {
  cursor_.skip_blanks();
  const size_t start = cursor_.position();
  if (cursor_.eat("?")) return captured_attribute(pattern);
  section_ = Section::attribute;
  const int wanted = TRY(sum());
  section_ = Section::left_side;
  pattern.expression = wanted;
  if (equation_.expressions[wanted].kind == Expression::Kind::literal) return {};
  Expression captured;
  captured.kind = Expression::Kind::variable;
  captured.variable = static_cast<int>(equation_.variables.size());
  equation_.variables.push_back({Variable::Kind::attribute, fmt::format("#{}", pattern.name)});
  pattern.expression = TRY(add(std::move(captured)));
  Expression compare;
  compare.kind = Expression::Kind::compare;
  compare.arguments = {pattern.expression, wanted};
  equation_.conditions.push_back({TRY(add(std::move(compare))), false, fmt::format("{} == {}", pattern.name, cursor_.text_since(start))});
  return {};
}

Result<void> EquationParser::schema(const Term& t, Term::AttributePattern& pattern, size_t at) {
  const auto specs = ops::attribute_specs(ops::def_of(*t.op));
  const auto spec = std::ranges::find(specs, pattern.name, &ops::AttributeSpec::name);
  if (spec == specs.end()) {
    std::vector<std::string_view> known;
    for (const auto& s : specs) known.push_back(s.name);
    const std::string near = nearest_name(pattern.name, known);
    std::string all;
    for (std::string_view name : known) all += (all.empty() ? "" : ", ") + std::string(name);
    return cursor_.error_at(at, fmt::format("{} has no attribute {}", t.op->name, pattern.name))
        .expected(all.empty() ? "no attribute" : "one of " + all)
        .advice(near);
  }
  pattern.floating = spec->kind == AttributeKind::number || spec->kind == AttributeKind::floats;
  const Expression& e = equation_.expressions[pattern.expression];
  if (e.kind == Expression::Kind::literal && !fits(spec->kind, e.literal))
    return cursor_.error_at(at, fmt::format("attribute {} of {} has another kind", pattern.name, t.op->name))
        .expected(std::string(ops::name_of(spec->kind)))
        .found(text_of(e.literal));
  if (!pattern.has_default) take_default(*spec, pattern);
  return {};
}

Result<void> EquationParser::check_arity(const Term& t, size_t at) {
  const auto is_rest = [&](int i) { return equation_.terms[i].kind == Term::Kind::variadic; };
  const auto count = static_cast<int>(t.operands.size());
  const auto rests = static_cast<int>(std::ranges::count_if(t.operands, is_rest));
  const int most = t.op->max_inputs, least = t.op->min_inputs;
  if ((most < 0 || count - rests <= most) && (rests > 0 || count >= least)) return {};
  const std::string wanted = most < 0        ? fmt::format("at least {}", least)
                             : most == least ? fmt::format("{}", least)
                                             : fmt::format("{} to {}", least, most);
  return cursor_.error_at(at, fmt::format("{} has another number of operands", t.op->name))
      .expected(wanted)
      .found(fmt::format("{}", count))
      .advice(count < least ? "?name stands for any operand" : "what the op says as an attribute is written name=value");
}

}  // namespace tenon::rewrite
