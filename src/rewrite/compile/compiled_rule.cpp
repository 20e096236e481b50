// SPDX-License-Identifier: Apache-2.0
#include "rewrite/compile/compiled_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/builder.h"
#include "rewrite/equation/parser.h"
#include "rewrite/equation/pattern_graph.h"

namespace tenon::rewrite {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t blank = std::min(text.find(' '), text.size());
    if (blank > 0) out.emplace_back(text.substr(0, blank));
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return out;
}

/// An error in a part of a rule as an error of the rule: bad_rule, except not_supported for an unknown op, which stays.
Error refused(const Rule& rule, std::string_view part, const Error& error) {
  const Code code = error.code() == Code::not_supported ? Code::not_supported : Code::bad_rule;
  const std::string where = error->place.empty() ? "" : error->place + ": ";
  return fail(code, std::string(rule.name), fmt::format("{}: {}{}", part, where, error->what))
      .expected(error->expected)
      .found(error->found)
      .advice(error->advice);
}

/// One side of a rule in builder style, as a graph.
Result<std::unique_ptr<Graph>> drawn(const Rule& rule, Pattern pattern, std::string_view side, const ir::OpTable& ops) {
  auto graph = std::make_unique<Graph>(ops);
  std::vector<ValueId> inputs;
  for (const std::string& name : words_of(rule.pattern_inputs)) inputs.push_back(graph->add_input(name, ir::Type()));
  ir::Builder build(*graph);
  const std::vector<ValueId> results = pattern(build, inputs);
  if (!build.status()) return refused(rule, side, build.status().error());
  for (ValueId result : results) {
    if (!result || !graph->alive(result))
      return fail(Code::bad_rule, std::string(rule.name), fmt::format("{} answers with a value that is not in its graph", side))
          .expected("inputs of the pattern, and what its builder made")
          .found(result ? "a value of another graph" : "none");
    graph->add_output(result);
  }
  return graph;
}

Result<void> add_conditions(const Rule& rule, const ir::OpTable& ops, Equation& equation) {
  if (rule.where.empty()) return {};
  const UserFunctions user_functions;
  Cursor cursor(rule.where, {});
  TRY(EquationParser(cursor, ops, user_functions, equation).conditions());
  if (!cursor.at_end()) return cursor.error("',' or the end");
  return {};
}

Result<void> check_inputs(const Rule& rule, const Equation& equation) {
  for (size_t k = 0; k < equation.variables.size(); ++k) {
    const auto is_it = [k](const Term& t) { return t.kind == Term::Kind::variable && t.variable == static_cast<int>(k); };
    if (std::ranges::none_of(equation.terms, is_it))
      return fail(Code::bad_rule, std::string(rule.name), fmt::format("pattern_inputs: neither side uses {}", equation.variables[k].name))
          .advice("take it out");
  }
  return {};
}

/// The patterns as an equation.
Result<Equation> in_builder_style(const Rule& rule, const ir::OpTable& ops) {
  if (!rule.match_pattern || !rule.apply_pattern)
    return fail(Code::bad_rule, std::string(rule.name), "a rule in builder style has two sides")
        .expected("match_pattern and apply_pattern")
        .found(rule.match_pattern ? "match_pattern alone" : "apply_pattern alone");
  const auto match = TRY(drawn(rule, rule.match_pattern, "match_pattern", ops));
  const auto apply = TRY(drawn(rule, rule.apply_pattern, "apply_pattern", ops));
  Result<Equation> equation = equation_of(*match, *apply);
  if (!equation) return refused(rule, "match_pattern and apply_pattern", equation.error());
  TRY(check_inputs(rule, *equation));
  if (const auto added = add_conditions(rule, ops, *equation); !added) return refused(rule, "where", added.error());
  return equation;
}

/// Checks that a rule sets only fields of its kind (equation, patterns or functions), since others would be ignored.
Result<void> check_kind(const Rule& rule) {
  const bool patterns = rule.match_pattern || rule.apply_pattern, code = rule.match || rule.rewrite || rule.match_and_rewrite;
  if (int{!rule.equation.empty()} + int{patterns} + int{code} > 1)
    return fail(Code::bad_rule, std::string(rule.name), "a rule is written in one way")
        .expected("an equation, or patterns, or functions")
        .found("more than one of them");
  if (!patterns && !(rule.where.empty() && rule.pattern_inputs.empty()))
    return fail(Code::bad_rule, std::string(rule.name), "where and pattern_inputs belong to match_pattern and apply_pattern")
        .advice("write the conditions into the equation, or check them in match");
  return {};
}

}  // namespace

Result<RulePtr> compile(const Rule& rule, const ir::OpTable& ops, Stage stage, std::string_view sets) {
  TRY(check_kind(rule));
  auto out = std::make_shared<CompiledRule>();
  out->name = rule.name;
  out->docs = rule.docs;
  out->sets = rule.sets.empty() ? sets : rule.sets;
  out->stage = stage;
  out->covered_patterns = rule.covered_patterns;
  out->numerics = rule.numerics;
  out->finite = rule.finite;
  out->benefit = rule.benefit;
  out->allow_outside_uses = rule.allow_outside_uses;
  if (rule.measure) out->measure = rule.measure;
  if (!rule.equation.empty() || rule.match_pattern || rule.apply_pattern) {
    auto equation = rule.equation.empty() ? in_builder_style(rule, ops) : Equation::parse(rule.equation, ops);
    if (!equation) return std::unexpected(std::move(equation).error().at(out->name));
    out->equation = std::move(*equation);
    return out;
  }
  out->roots = words_of(rule.roots);
  if (rule.match) out->match = rule.match;
  if (rule.rewrite) out->rewrite = rule.rewrite;
  if (rule.match_and_rewrite) out->match_and_rewrite = rule.match_and_rewrite;
  if (!out->match_and_rewrite && !(out->match && out->rewrite))
    return fail(Code::bad_rule, out->name,
                "a rule needs an equation, match_pattern and apply_pattern, match and rewrite, or match_and_rewrite");
  return out;
}

}  // namespace tenon::rewrite
