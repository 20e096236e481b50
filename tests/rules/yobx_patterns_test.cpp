// SPDX-License-Identifier: Apache-2.0
// Every pattern of yobx's pattern optimizer has a rule that names it (Rule::covered_patterns), or is in kPatternsWithoutRule.
#include "yobx_patterns.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "patterns_without_rule.h"
#include "rules/registry/registry.h"

namespace tenon::rules {
namespace {

/// The patterns that rules of the set name; of all rules where `set` is empty.
std::set<std::string> patterns_of_rules(std::string_view set) {
  std::set<std::string> names;
  for (const Entry& entry : all_rules()) {
    if (!set.empty() && std::string(entry.sets).find(set) == std::string::npos) continue;
    std::istringstream words{std::string(entry.rule->covered_patterns)};
    for (std::string word; words >> word;) names.insert(word);
  }
  return names;
}

std::set<std::string> patterns_without_rule(std::span<const YobxPattern> patterns, std::string_view set) {
  std::set<std::string> missing, covered = patterns_of_rules(set);
  for (const PatternWithoutRule& pattern : kPatternsWithoutRule) covered.emplace(pattern.name);
  for (const YobxPattern& pattern : patterns)
    if (!covered.contains(std::string(pattern.name))) missing.emplace(pattern.name);
  return missing;
}

TEST(YobxPatterns, SetsAreComplete) {
  EXPECT_EQ(yobx_default_patterns().size(), 104u);
  EXPECT_EQ(yobx_onnxruntime_patterns().size(), 40u);
}

TEST(YobxPatterns, EveryDefaultPatternHasARuleInDefault) {
  EXPECT_EQ(patterns_without_rule(yobx_default_patterns(), "default"), std::set<std::string>());
}

TEST(YobxPatterns, EveryOnnxruntimePatternHasARuleInOnnxruntime) {
  EXPECT_EQ(patterns_without_rule(yobx_onnxruntime_patterns(), "onnxruntime"), std::set<std::string>());
}

TEST(YobxPatterns, PatternsOutsideOfSetsHaveRulesInOtherSets) {
  EXPECT_EQ(patterns_without_rule(yobx_other_patterns().first(2), "onnxruntime_other"), std::set<std::string>());
  EXPECT_EQ(patterns_without_rule(yobx_other_patterns().subspan(2), "ml"), std::set<std::string>());
}

TEST(YobxPatterns, EveryPatternNameSelectsRules) {
  for (const auto patterns : {yobx_default_patterns(), yobx_onnxruntime_patterns(), yobx_other_patterns()})
    for (const YobxPattern& pattern : patterns) EXPECT_TRUE(select(pattern.name)) << pattern.name;
}

TEST(YobxPatterns, RulesNameOnlyKnownPatterns) {
  std::set<std::string> known;
  for (const auto patterns : {yobx_default_patterns(), yobx_onnxruntime_patterns(), yobx_other_patterns()})
    for (const YobxPattern& pattern : patterns) known.emplace(pattern.name);
  for (const std::string& name : patterns_of_rules("")) EXPECT_TRUE(known.contains(name)) << name;
}

}  // namespace
}  // namespace tenon::rules
