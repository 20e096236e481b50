// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

#include "cli/console.h"
#include "cli/rule_choice.h"
#include "cli/rule_text.h"
#include "cli/verb.h"
#include "ops/op.h"

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string which, rule;
  CLI::App *list = nullptr, *show = nullptr;
};

/// Rules by a set expression or of a file; all of the library where `which` is empty.
Result<std::vector<RuleText>> rules_of(const std::string& which) {
  std::vector<RuleText> out;
  if (!which.empty() && is_rules_file(which)) {
    for (const auto& rule : TRY(read_rules_file(which, ops::table()))) out.push_back(text_of(*rule, which));
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
  const auto rules = TRY(rules_of(o.which));
  std::vector<std::vector<std::string>> rows{{"rule", "set", "numerics", "stage", "what it does (what it covers elsewhere)"}};
  for (const RuleText& r : rules)
    rows.push_back({r.name, r.sets, r.numerics, r.stage, r.docs + (r.seeds.empty() ? "" : " (" + r.seeds + ")")});
  console.table(rows);
  console.line(fmt::format("{} rules", rules.size()));
  give(rules, console);
  return {};
}

Result<void> show(const Options& o, Console& console) {
  auto rules = TRY(rules_of(o.rule));
  // A rule may have the name of its file or of a rewrite elsewhere: then the rule itself was meant.
  if (std::ranges::any_of(rules, [&](const RuleText& r) { return r.name == o.rule; }))
    std::erase_if(rules, [&](const RuleText& r) { return r.name != o.rule; });
  for (const RuleText& r : rules) {
    if (&r != rules.data()) console.line();
    for (const std::string& line : lines_of(r)) console.line(line);
  }
  give(rules, console);
  return {};
}

}  // namespace

VERB(rules) {
    .summary = "show the rules that rewrite models",
    .examples =
        "  tenon rules list                       every rule\n"
        "  tenon rules list onnxruntime-fuse_pad  those of an expression of sets\n"
        "  tenon rules list mine.rules\n"
        "  tenon rules show gelu_erf\n"
        "  tenon rules list default --json | jq -r '.rules[].name'\n",
    .setup = [](CLI::App& app) -> Action {
      auto o = std::make_shared<Options>();
      app.require_subcommand(1);
      o->list = app.add_subcommand("list", "name, sets, numerics, stage and meaning of rules")->fallthrough();
      o->list->add_option("SET", o->which, "a set expression or a .rules file (default: every rule)");
      o->show = app.add_subcommand("show", "all there is to say of a rule: its equation, its promises, where it stands")->fallthrough();
      o->show->add_option("RULE", o->rule, "a rule, or a name that several have in common: a set, a file, a rewrite elsewhere")->required();
      return [o](Console& console) { return o->list->parsed() ? list(*o, console) : show(*o, console); };
    },
};

}  // namespace tenon::cli
