// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite/rule_test.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tenon::cli {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> row_of(const RuleTest& t) {
  if (t.is_code) return {t.found.rule, "-", "-", "-", "-", "no tests follow from code"};
  const auto& f = t.found;
  std::string note = f.faults.empty() && f.instances == 0 ? "no graph was found that it matches" : "";
  return {
      f.rule, std::to_string(f.instances), std::to_string(f.mutants), std::to_string(f.equivalent_mutants), std::to_string(f.faults.size()),
      note};
}

Json json_of(const RuleTest& t) {
  const auto& f = t.found;
  return {{"name", f.rule},
          {"code", t.is_code},
          {"instances", f.instances},
          {"refused", f.mutants},
          {"refused_by_kind", f.refused},
          {"harmless", f.equivalent_mutants},
          {"example", f.example},
          {"faults", f.faults}};
}

}  // namespace

std::vector<RuleTest> test_rules(const std::vector<rewrite::RulePtr>& rules, const ir::OpTable& ops, uint64_t seed, Console& console) {
  std::vector<RuleTest> out;
  for (const auto& rule : rules) {
    console.progress(fmt::format("{} of {}: {}", out.size() + 1, rules.size(), rule->name));
    rewrite::SelfTestOptions options;
    options.seed = seed;
    out.push_back({rewrite::self_test(*rule, ops, options), !rule->equation.has_value()});
  }
  return out;
}

Result<void> report_tests(const std::vector<RuleTest>& tests, uint64_t seed, Console& console) {
  std::vector<std::vector<std::string>> rows{{"rule", "instances", "mutants refused", "harmless", "faults", ""}};
  Json json = Json::array();
  size_t faults = 0;
  std::string_view faulty_rule;
  for (const RuleTest& t : tests) {
    rows.push_back(row_of(t));
    json.push_back(json_of(t));
    if (faults == 0 && !t.found.faults.empty()) faulty_rule = t.found.rule;
    faults += t.found.faults.size();
  }
  console.table(rows);
  for (const RuleTest& t : tests)
    for (const std::string& fault : t.found.faults) console.line(fmt::format("\n{}: {}", t.found.rule, fault));
  console.line(fmt::format("{} rules, {} faults", tests.size(), faults));
  console.object({{"seed", seed}, {"faults", faults}, {"rules", json}});
  if (faults == 0) return {};
  return fail(Code::bad_rule, std::string(faulty_rule), "it is wrong on a graph that was made up from it")
      .expected("equal results, and no match where something differs from the pattern")
      .found(fmt::format("{} faults in all; each is shown with its graph", faults))
      .advice("correct the right side, or state a condition that leaves such graphs out");
}

}  // namespace tenon::cli
