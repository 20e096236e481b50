// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

#include "cli/console/console.h"
#include "cli/console/number_checks.h"
#include "cli/console/verb.h"
#include "cli/options/model_options.h"
#include "cli/options/plugin_options.h"
#include "cli/options/rule_choice.h"
#include "cli/rewrite/rule_test.h"
#include "cli/rewrite/rule_text.h"
#include "cli/rewrite/rule_why.h"
#include "ops/core/op.h"
#include "passes/pipeline.h"

namespace tenon::cli::verb_rules {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string which, rule;
  PluginOptions plugins;  ///< of list, show and test; those of `why` are in `model`
  ModelOptions model;
  std::vector<std::string> before;
  std::string node;
  size_t most = 5;
  uint64_t seed = 1;
  CLI::App *list = nullptr, *show = nullptr, *test = nullptr, *why = nullptr;
};

/// The table of the ops that equations may refer to.
Result<const ir::OpTable*> ops_of(const Options& o) { return TRY((o.why->parsed() ? o.model.plugins : o.plugins).plugins()).ops; }

/// Rules by a set expression or of a file; all of the library where `which` is empty.
Result<std::vector<RuleText>> rules_of(const Options& o, const std::string& which) {
  std::vector<RuleText> out;
  if (!which.empty() && is_rules_file(which)) {
    for (const auto& rule : TRY(read_rules_file(which, *TRY(ops_of(o))))) out.push_back(text_of(*rule, which));
    return out;
  }
  const auto all = rules::all_rules();
  const auto chosen = which.empty() ? std::vector(all.begin(), all.end()) : TRY(rules::select(which));
  for (const rules::Entry& e : chosen) out.push_back(text_of(e));
  return out;
}

void give(const std::vector<RuleText>& rules, Console& console) {
  Json json = Json::array();
  for (const RuleText& r : rules) json.push_back(json_of(r));
  console.object({{"rules", json}});
}

Result<void> list(const Options& o, Console& console) {
  const auto rules = TRY(rules_of(o, o.which));
  std::vector<std::vector<std::string>> rows{{"rule", "set", "numerics", "stage", "what it does (what it covers elsewhere)"}};
  for (const RuleText& r : rules)
    rows.push_back({r.name, r.sets, r.numerics, r.stage, r.docs + (r.seeds.empty() ? "" : " (" + r.seeds + ")")});
  console.table(rows);
  console.line(fmt::format("{} rules", rules.size()));
  give(rules, console);
  return {};
}

Result<void> show(const Options& o, Console& console) {
  auto rules = TRY(rules_of(o, o.rule));
  // A rule may have the name of its file or of a rewrite elsewhere: then the name refers to the rule.
  if (std::ranges::any_of(rules, [&](const RuleText& r) { return r.name == o.rule; }))
    std::erase_if(rules, [&](const RuleText& r) { return r.name != o.rule; });
  for (const RuleText& r : rules) {
    if (&r != rules.data()) console.line();
    for (const std::string& line : lines_of(r)) console.line(line);
  }
  give(rules, console);
  return {};
}

/// The same, ready to run; a rule of that name alone, where there is one.
Result<std::vector<rewrite::RulePtr>> compiled_rules(const Options& o) {
  const std::string& which = o.rule;
  const ir::OpTable& ops = *TRY(ops_of(o));
  if (is_rules_file(which)) return read_rules_file(which, ops);
  const auto all = rules::all_rules();
  std::vector<rewrite::RulePtr> out;
  for (const rules::Entry& e : which.empty() ? std::vector(all.begin(), all.end()) : TRY(rules::select(which)))
    out.push_back(TRY(rules::compile(e, ops)));
  if (std::ranges::any_of(out, [&](const auto& r) { return r->name == which; }))
    std::erase_if(out, [&](const auto& r) { return r->name != which; });
  return out;
}

/// The graph that rules meet: constants are folded and equal nodes merged; rules run before only where they were requested.
Result<import::Imported> model_for_rules(const Options& o) {
  passes::Options options;
  const RuleChoice choice = o.before.empty() ? RuleChoice() : TRY(choose_rules(o.before, *TRY(ops_of(o))));
  options.level = 3;
  options.rule_selection = choice.expression;
  options.own = choice.files;
  auto m = TRY(o.model.import());
  TRY(passes::optimise(*m.graph, options));
  return m;
}

Result<void> why(const Options& o, Console& console) {
  if (o.model.path.empty()) return show(o, console);
  const auto rules = TRY(compiled_rules(o));
  const import::Imported m = TRY(model_for_rules(o));
  rewrite::WhyOptions options;
  options.allowed = rewrite::Numerics::approximate;
  Json json = Json::array();
  for (const auto& rule : rules) {
    const auto found = TRY(why_not(*m.graph, *rule, o.node, rules.size() == 1 ? o.most : 1, options));
    for (const rewrite::Why& w : found) console.line(w.text());
    for (const rewrite::Why& w : found) json.push_back(json_of(w));
    if (found.empty()) console.line(fmt::format("{}: no node of the model is one that it starts at", rule->name));
  }
  console.object({{"file", o.model.path}, {"why", json}});
  return {};
}

/// Every equation, where none are named.
Result<void> test(const Options& o, Console& console) {
  auto rules = TRY(compiled_rules(o));
  if (o.rule.empty()) std::erase_if(rules, [](const auto& r) { return !r->equation; });
  return report_tests(test_rules(rules, *TRY(ops_of(o)), o.seed, console), o.seed, console);
}

void add_test(CLI::App& app, Options& o) {
  o.test = app.add_subcommand("test",
                              "the tests that follow from equations: made-up graphs that must match and stay equal, and graphs with"
                              " one fault, which must not match")
               ->fallthrough();
  o.test->add_option("RULE", o.rule, "a rule, a set expression, or a .rules file (default: every rule that is an equation)")
      ->type_name("SET|FILE");
  o.test->add_option("--seed", o.seed, "seed of the random graphs and inputs")->check(seed_number())->capture_default_str();
}

void add_why(CLI::App& app, Options& o) {
  o.why = app.add_subcommand("why", "why a rule does not match: at a node, or the best partial matches of a model")->fallthrough();
  o.why->add_option("RULE", o.rule, "a rule, a .rules file, or a name that several rules have in common")
      ->required()
      ->type_name("SET|FILE");
  o.model.add_to(*o.why);
  o.why->get_option("MODEL")->required(false);
  o.why->add_option("NODE", o.node, "a node, or one of its results");
  o.why->add_option("--rules", o.before, "apply these rules to the model first (default: none; constants are folded in any case)")
      ->type_name("SET|FILE")
      ->allow_extra_args(false);
  o.why->add_option("--most", o.most, "how many partial matches to print")->check(at_least(1))->capture_default_str();
}

}  // namespace

VERB(rules) {
    .summary = "list and test rewrite rules, and explain why a rule does not match",
    .examples =
        "  tenon rules list                       every rule\n"
        "  tenon rules list default+canonical     those of an expression of sets\n"
        "  tenon rules list mine.rules\n"
        "  tenon rules show gelu_erf\n"
        "  tenon rules test                       tries every equation on graphs made up from it\n"
        "  tenon rules test mine.rules --seed 7\n"
        "  tenon rules why gelu_erf model.onnx    its best partial matches, and what they lack\n"
        "  tenon rules why gelu_erf model.onnx /encoder/act/Mul_1\n"
        "  tenon rules list default --json | jq -r '.rules[].name'\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.require_subcommand(1);
      o->list = app.add_subcommand("list", "name, sets, numerics, stage and meaning of rules")->fallthrough();
      o->list->add_option("SET", o->which, "a set expression or a .rules file (default: every rule)")->type_name("SET|FILE");
      o->show = app.add_subcommand("show", "everything about a rule: its equation, its promises, its file")->fallthrough();
      o->show->add_option("RULE", o->rule, "a rule, or a name that several have in common: a set, a file, a rewrite elsewhere")->required();
      add_test(app, *o);
      for (CLI::App* verb : {o->list, o->show, o->test}) o->plugins.add_libraries(*verb);
      add_why(app, *o);
      return [o](Console& console) {
        if (o->list->parsed()) return list(*o, console);
        if (o->show->parsed()) return show(*o, console);
        return o->test->parsed() ? test(*o, console) : why(*o, console);
      };
    },
};

}  // namespace tenon::cli::verb_rules
