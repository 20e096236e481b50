// SPDX-License-Identifier: Apache-2.0
// Every rewrite of the catalogues is here: as a rule, or done by another part that says so.
#include "catalogues.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "covered.h"
#include "rules/registry/registry.h"

namespace tenon::rules {
namespace {

std::set<std::string> seeds_of_rules(std::string_view set) {
  std::set<std::string> found;
  for (const Entry& entry : all_rules()) {
    if (!set.empty() && std::string(entry.sets).find(set) == std::string::npos) continue;
    std::istringstream words{std::string(entry.rule->seeds)};
    for (std::string word; words >> word;) found.insert(word);
  }
  return found;
}

std::set<std::string> missing_of(std::span<const Seed> catalogue, std::string_view set) {
  std::set<std::string> missing, there = seeds_of_rules(set);
  for (const Covered& c : kCovered) there.emplace(c.seed);
  for (const Seed& seed : catalogue)
    if (!there.contains(std::string(seed.name))) missing.emplace(seed.name);
  return missing;
}

TEST(Catalogues, HaveTheSizesThatTheyHaveThere) {
  EXPECT_EQ(default_catalogue().size(), 104u);
  EXPECT_EQ(onnxruntime_catalogue().size(), 40u);
}

TEST(Catalogues, EveryRewriteOfDefaultIsInDefault) { EXPECT_EQ(missing_of(default_catalogue(), "default"), std::set<std::string>()); }

TEST(Catalogues, EveryRewriteOfOnnxruntimeIsInOnnxruntime) {
  EXPECT_EQ(missing_of(onnxruntime_catalogue(), "onnxruntime"), std::set<std::string>());
}

TEST(Catalogues, EveryRewriteOfNoSetThereIsInASetOfItsOwn) {
  EXPECT_EQ(missing_of(other_catalogue().first(2), "onnxruntime_other"), std::set<std::string>());
  EXPECT_EQ(missing_of(other_catalogue().subspan(2), "ml"), std::set<std::string>());
}

TEST(Catalogues, EveryRewriteCanBeSelected) {
  for (const auto catalogue : {default_catalogue(), onnxruntime_catalogue(), other_catalogue()})
    for (const Seed& seed : catalogue) EXPECT_TRUE(select(seed.name)) << seed.name;
}

TEST(Catalogues, NoRuleNamesARewriteThatIsInNone) {
  std::set<std::string> known;
  for (const auto catalogue : {default_catalogue(), onnxruntime_catalogue(), other_catalogue()})
    for (const Seed& seed : catalogue) known.emplace(seed.name);
  for (const std::string& seed : seeds_of_rules("")) EXPECT_TRUE(known.contains(seed)) << seed;
}

}  // namespace
}  // namespace tenon::rules
