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

/// The default in the op's schema, where it says one that an equation can compare with.
void take_default(const ops::AttributeSpec& spec, Term::AttributePattern& given) {
  if (spec.default_text.empty()) return;
  double number = 0;
  std::from_chars(spec.default_text.data(), spec.default_text.data() + spec.default_text.size(), number);
  given.has_default = true;
  if (spec.kind == AttributeKind::text) given.otherwise = std::string(spec.default_text);
  else if (spec.kind == AttributeKind::number) given.otherwise = static_cast<float>(number);
  else if (spec.kind == AttributeKind::integer) given.otherwise = static_cast<int64_t>(number);
  else given.has_default = false;
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
  if (level.too_deep()) return c_.wrong(c_.at(), fmt::format("terms nest at most {} levels deep", kMostLevels), Code::limit_exceeded);
  const int t = TRY(plain_term());
  if (c_.peek() != '.' || !std::isdigit(static_cast<unsigned char>(c_.peek_second()))) return t;
  if (out_.terms[t].kind != Term::Kind::op) return c_.error("',' (only an op has several results)");
  c_.eat(".");
  const size_t start = c_.at();
  const int64_t index = TRY(c_.integer());
  const int most = out_.terms[t].op->max_outputs;
  if (index > 255 || (most >= 0 && index >= most))
    return c_.wrong(start, fmt::format("{} has no result {}", out_.terms[t].op->name, index))
        .expected(fmt::format("a number below {}", most));
  out_.terms[t].result = static_cast<uint8_t>(index);
  return t;
}

Result<int> EquationParser::plain_term() {
  if (c_.eat("?")) return name_term();
  if (c_.number_ahead()) return number_term();
  if (c_.eat("[")) return list_term();
  if (c_.eat("(")) return either();
  if (c_.eat_word("_")) return add(Term{});
  if (where_ == Where::right && c_.eat_word("const")) return computed_term();
  return op_term();
}

Result<int> EquationParser::name_term() {
  Term t;
  const size_t start = c_.at();
  const size_t end = start + c_.word().size();
  const bool rest = c_.text().substr(end).starts_with("...");
  t.kind = rest ? Term::Kind::rest : Term::Kind::variable;
  t.variable = TRY(variable(rest ? Variable::Kind::rest : Variable::Kind::value));
  if (rest) c_.eat("...");
  else if (c_.text().substr(c_.at()).starts_with("?")) t.optional = c_.eat("?");
  return add(std::move(t));
}

Result<int> EquationParser::number_term() {
  Term t;
  t.kind = Term::Kind::number;
  t.number = TRY(c_.number());
  if (c_.peek() == '~') {
    if (where_ == Where::right) return c_.error("',' or ')' (a tolerance compares, and the right side compares nothing)");
    c_.eat("~");
    t.tolerance = TRY(c_.number());
  }
  return add(std::move(t));
}

/// Left: integers. Right: anything that makes a list.
Result<int> EquationParser::list_term() {
  Term t;
  if (where_ == Where::right) {
    where_ = Where::attribute;
    const int e = TRY(list());
    where_ = Where::right;
    if (is_pattern(e)) return c_.error("a list without '_' and '...' (there is nothing to compare on the right)");
    if (const auto* whole = std::get_if<ir::Ints>(&out_.expressions[e].literal);
        whole && out_.expressions[e].kind == Expression::Kind::literal) {
      t.kind = Term::Kind::ints;
      t.ints = *whole;
    } else {
      t.kind = Term::Kind::computed;
      t.expression = e;
    }
    return add(std::move(t));
  }
  t.kind = Term::Kind::ints;
  if (c_.eat("]")) return add(std::move(t));
  do t.ints.push_back(TRY(c_.integer()));
  while (c_.eat(","));
  if (!c_.eat("]")) return c_.error("',' or ']'");
  return add(std::move(t));
}

Result<int> EquationParser::either() {
  Term t;
  t.kind = Term::Kind::either;
  do t.operands.push_back(TRY(term()));
  while (where_ == Where::left && c_.eat("|"));
  if (!c_.eat(")")) return c_.error(where_ == Where::left ? "'|' or ')'" : "')'");
  return t.operands.size() == 1 ? t.operands[0] : add(std::move(t));
}

/// const(expression) or const(expression, dtype)
Result<int> EquationParser::computed_term() {
  Term t;
  t.kind = Term::Kind::computed;
  if (!c_.eat("(")) return c_.error("'('");
  where_ = Where::attribute;
  t.expression = TRY(sum());
  if (c_.eat(",")) t.dtype = TRY(sum());
  where_ = Where::right;
  if (!c_.eat(")")) return c_.error(t.dtype < 0 ? "',' and an element type, or ')'" : "')'");
  return add(std::move(t));
}

Result<std::pair<std::string, std::string>> EquationParser::op_name() {
  std::string domain, name = c_.identifier();
  const auto dot = [&] { return c_.peek() == '.' && std::isalpha(static_cast<unsigned char>(c_.peek_second())); };
  while (!name.empty() && (dot() || c_.eat("::"))) {
    if (dot()) c_.eat(".");
    domain += (domain.empty() ? "" : ".") + name;
    name = c_.identifier();
  }
  if (name.empty())
    return c_.error(where_ == Where::left ? "a term: Op(...), ?name, a number, [integers], _ or (A | B)"
                                          : "a term: Op(...), ?name, a number, [list], _ or const(...)");
  return std::pair(domain, name);
}

Error EquationParser::unknown_op(size_t at, const std::string& domain, const std::string& name) const {
  const auto written = [](std::string_view d, std::string_view n) { return d.empty() ? std::string(n) : fmt::format("{}::{}", d, n); };
  std::vector<std::string> known;
  for (const ops::OpDef* def : ops::all_ops()) known.push_back(written(def->domain, def->name));
  const std::string full = written(domain, name), near = nearest_name(full, known);
  return c_.wrong(at, fmt::format("not supported yet: op {}", full), Code::not_supported)
      .advice(near.empty() ? "tenon's ops are listed in docs/ops.md; one of a plugin needs its library in addition to the rules" : near);
}

Result<int> EquationParser::op_term() {
  Term t;
  t.kind = Term::Kind::op;
  c_.skip();
  const size_t start = c_.at();
  auto [domain, name] = TRY(op_name());
  if (c_.peek() != '(') return c_.error("'('");
  t.op = ops_.find(domain, name);
  if (!t.op) return unknown_op(start, domain, name);
  c_.eat("(");
  TRY(operands(t));
  TRY(check_arity(t, start));
  return add(std::move(t));
}

Result<void> EquationParser::operands(Term& t) {
  if (c_.eat(")")) return {};
  do TRY(operand(t));
  while (c_.eat(","));
  if (!c_.eat(")")) return c_.error("',' or ')'");
  return {};
}

Result<void> EquationParser::operand(Term& t) {
  c_.skip();
  const size_t start = c_.at();
  std::string name = c_.identifier();
  if (!name.empty() && c_.peek() == '=' && c_.peek_second() != '>') {
    c_.eat("=");
    return attribute(t, std::move(name), start);
  }
  c_.go(start);
  t.operands.push_back(TRY(term()));
  return {};
}

Result<void> EquationParser::attribute(Term& t, std::string name, size_t at) {
  Term::AttributePattern given;
  given.name = std::move(name);
  for (const Term::AttributePattern& other : t.attributes)
    if (other.name == given.name) return c_.wrong(at, fmt::format("attribute {} is given twice", given.name));
  if (where_ == Where::left) {
    TRY(left_attribute(given));
  } else {
    where_ = Where::attribute;
    given.expression = TRY(sum());
    where_ = Where::right;
    const Expression& e = out_.expressions[given.expression];
    if (e.kind == Expression::Kind::variable && out_.variables[e.variable].kind == Variable::Kind::value)
      return c_.wrong(at, fmt::format("attribute {} cannot be the graph value ?{}", given.name, out_.variables[e.variable].name))
          .advice(fmt::format("value(?{0}) is the number of a constant, ints(?{0}) its integers", out_.variables[e.variable].name));
  }
  TRY(schema(t, given, at));
  t.attributes.push_back(std::move(given));
  return {};
}

/// After the "?" of `?name`, or of `?name else LITERAL`.
Result<void> EquationParser::captured_attribute(Term::AttributePattern& given) {
  Expression e;
  e.kind = Expression::Kind::variable;
  e.variable = TRY(variable(Variable::Kind::attribute));
  given.expression = TRY(add(std::move(e)));
  if (!c_.eat_word("else")) return {};
  const Expression& otherwise = out_.expressions[TRY(unary())];
  auto value = otherwise.kind == Expression::Kind::literal ? attribute_of(otherwise.literal) : std::nullopt;
  if (!value) return c_.error("a literal after 'else'");
  given.otherwise = std::move(*value);
  given.has_default = true;
  return {};
}

/// A literal to compare with, or `?name` to capture, or a function of names: captured under a hidden name, and a condition.
Result<void> EquationParser::left_attribute(Term::AttributePattern& given) {
  c_.skip();
  const size_t start = c_.at();
  if (c_.eat("?")) return captured_attribute(given);
  where_ = Where::attribute;
  const int wanted = TRY(sum());
  where_ = Where::left;
  given.expression = wanted;
  if (out_.expressions[wanted].kind == Expression::Kind::literal) return {};
  Expression captured;
  captured.kind = Expression::Kind::variable;
  captured.variable = static_cast<int>(out_.variables.size());
  out_.variables.push_back({Variable::Kind::attribute, fmt::format("#{}", given.name)});
  given.expression = TRY(add(std::move(captured)));
  Expression compare;
  compare.kind = Expression::Kind::compare;
  compare.arguments = {given.expression, wanted};
  out_.conditions.push_back({TRY(add(std::move(compare))), false, fmt::format("{} == {}", given.name, c_.since(start))});
  return {};
}

Result<void> EquationParser::schema(const Term& t, Term::AttributePattern& given, size_t at) {
  const auto specs = ops::attribute_specs(ops::def_of(*t.op));
  const auto spec = std::ranges::find(specs, given.name, &ops::AttributeSpec::name);
  if (spec == specs.end()) {
    std::vector<std::string_view> known;
    for (const auto& s : specs) known.push_back(s.name);
    const std::string near = nearest_name(given.name, known);
    std::string all;
    for (std::string_view name : known) all += (all.empty() ? "" : ", ") + std::string(name);
    return c_.wrong(at, fmt::format("{} has no attribute {}", t.op->name, given.name))
        .expected(all.empty() ? "no attribute" : "one of " + all)
        .advice(near);
  }
  given.floating = spec->kind == AttributeKind::number || spec->kind == AttributeKind::floats;
  const Expression& e = out_.expressions[given.expression];
  if (e.kind == Expression::Kind::literal && !fits(spec->kind, e.literal))
    return c_.wrong(at, fmt::format("attribute {} of {} has another kind", given.name, t.op->name))
        .expected(std::string(ops::name_of(spec->kind)))
        .found(text_of(e.literal));
  if (!given.has_default) take_default(*spec, given);
  return {};
}

Result<void> EquationParser::check_arity(const Term& t, size_t at) {
  const auto is_rest = [&](int i) { return out_.terms[i].kind == Term::Kind::rest; };
  const auto count = static_cast<int>(t.operands.size());
  const auto rests = static_cast<int>(std::ranges::count_if(t.operands, is_rest));
  const int most = t.op->max_inputs, least = t.op->min_inputs;
  if ((most < 0 || count - rests <= most) && (rests > 0 || count >= least)) return {};
  const std::string wanted = most < 0        ? fmt::format("at least {}", least)
                             : most == least ? fmt::format("{}", least)
                                             : fmt::format("{} to {}", least, most);
  return c_.wrong(at, fmt::format("{} has another number of operands", t.op->name))
      .expected(wanted)
      .found(fmt::format("{}", count))
      .advice(count < least ? "?name stands for any operand" : "what the op says as an attribute is written name=value");
}

}  // namespace tenon::rewrite
