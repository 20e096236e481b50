// SPDX-License-Identifier: Apache-2.0
#include "rewrite/compiled_rule.h"

#include <algorithm>

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

}  // namespace

Result<RulePtr> compile(const Rule& rule, const ir::OpTable& ops, Stage stage, std::string_view sets) {
  auto out = std::make_shared<CompiledRule>();
  out->name = rule.name;
  out->docs = rule.docs;
  out->sets = rule.sets.empty() ? sets : rule.sets;
  out->stage = stage;
  out->seeds = rule.seeds;
  out->numerics = rule.numerics;
  out->benefit = rule.benefit;
  out->shared = rule.shared;
  if (rule.measure) out->measure = rule.measure;
  if (!rule.equation.empty()) {
    auto equation = Equation::parse(rule.equation, ops);
    if (!equation) return std::unexpected(std::move(equation).error().at(out->name));
    out->equation = std::move(*equation);
    return out;
  }
  out->roots = words_of(rule.roots);
  if (rule.match) out->match = rule.match;
  if (rule.rewrite) out->rewrite = rule.rewrite;
  if (rule.match_and_rewrite) out->match_and_rewrite = rule.match_and_rewrite;
  if (!out->match_and_rewrite && !(out->match && out->rewrite))
    return fail(Code::bad_rule, out->name, "a rule needs an equation, match and rewrite, or match_and_rewrite");
  return out;
}

}  // namespace tenon::rewrite
