// SPDX-License-Identifier: Apache-2.0
// Runs every *.tn beside it. A file holds cases:
//
//   case: a name
//   rules: transpose_compose, noop        names of rules or of files of rules
//   in:
//     graph main(...) { ... }
//   out:                                  or `same:` where nothing may match
//     graph main(...) { ... }
//
// `out` and the rewritten graph are compared by what their outputs compute; names inside and node order do not matter.
// Each rewritten graph is also evaluated by the reference beside the original, on drawn inputs.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "canonical.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/evaluate.h"
#include "ops/op.h"
#include "rewrite/driver.h"
#include "rules/registry/registry.h"

namespace tenon::tests {
namespace {

struct Case {
  std::string file, name, rules, in, out;
  bool same = false;
};

std::vector<Case> read_cases(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Case> cases;
  std::string* into = nullptr;
  for (std::string line; std::getline(file, line);) {
    const auto starts = [&](std::string_view key) { return line.starts_with(key); };
    if (starts("#")) continue;
    if (starts("case:")) {
      cases.push_back({path.stem().string(), line.substr(6), {}, {}, {}, false});
      into = nullptr;
    } else if (starts("rules:")) {
      cases.back().rules = line.substr(7);
    } else if (starts("in:")) {
      into = &cases.back().in;
    } else if (starts("out:")) {
      into = &cases.back().out;
    } else if (starts("same:")) {
      cases.back().same = true;
      into = nullptr;
    } else if (into) {
      *into += line + "\n";
    }
  }
  return cases;
}

std::vector<Case> all_cases() {
  std::vector<Case> out;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(TENON_TEST_DATA))
    if (entry.path().extension() == ".tn") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files)
    for (Case& c : read_cases(file)) out.push_back(std::move(c));
  return out;
}

Tensor draw(DType dtype, const Sizes& shape, std::mt19937& random) {
  Tensor t = *Tensor::make(dtype, shape);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < t.count(); ++i) {
    if (is_float(dtype)) t.set_number(i, normal(random));
    else t.set_integer(i, static_cast<int64_t>(random() % 2));
  }
  return t;
}

/// Inputs for both graphs, symbols drawn once.
std::vector<Tensor> draw_inputs(const ir::Graph& graph, std::mt19937& random) {
  std::map<std::string, int64_t> sizes;
  std::vector<Tensor> inputs;
  for (ir::ValueId id : graph.inputs()) {
    Sizes shape;
    for (Dim d : *graph.value(id).type.shape) {
      if (!d.is_number() && !sizes.contains(d.text())) sizes[d.text()] = 1 + static_cast<int64_t>(random() % 5);
      shape.push_back(d.is_number() ? d.value() : sizes[d.text()]);
    }
    inputs.push_back(draw(graph.value(id).type.dtype, shape, random));
  }
  return inputs;
}

void expect_equal_results(const ir::Graph& before, const ir::Graph& after) {
  std::mt19937 random(7);
  for (int round = 0; round < 2; ++round) {
    const auto inputs = draw_inputs(before, random);
    const auto a = ops::evaluate(before, inputs), b = ops::evaluate(after, inputs);
    ASSERT_TRUE(a) << a.error().text();
    ASSERT_TRUE(b) << b.error().text();
    for (size_t i = 0; i < a->size(); ++i) {
      ASSERT_EQ((*a)[i].shape(), (*b)[i].shape());
      for (int64_t k = 0; k < (*a)[i].count(); ++k) {
        const double x = (*a)[i].number(k), y = (*b)[i].number(k);
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;  // infinities too
        ASSERT_NEAR(x, y, 2e-5 * std::max(1.0, std::abs(x))) << "output " << i << ", element " << k;
      }
    }
  }
}

std::vector<const rewrite::Rule*> named(const std::string& names) {
  std::vector<const rewrite::Rule*> out;
  std::stringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    name.erase(0, name.find_first_not_of(' '));
    const auto found = rules::rules_named(name);
    EXPECT_FALSE(found.empty()) << "no rule and no file of rules is named " << name;
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

class RuleText : public testing::TestWithParam<Case> {};

TEST_P(RuleText, Rewrites) {
  const Case& c = GetParam();
  auto graph = ir::parse(c.in, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  const auto original = (*graph)->clone();
  const auto set = rewrite::RuleSet::make(named(c.rules), ops::table());
  ASSERT_TRUE(set) << set.error().text();
  ASSERT_TRUE(set->inactive().empty()) << set->inactive()[0];
  rewrite::Options options;
  options.allowed = rewrite::Numerics::approximate;
  const auto stats = rewrite::rewrite(**graph, *set, options);
  ASSERT_TRUE(stats) << stats.error().text();
  EXPECT_TRUE(stats->reports.empty()) << stats->reports[0];
  const auto ok = ir::verify(**graph);
  ASSERT_TRUE(ok) << ok.error().text();
  const auto wanted = ir::parse(c.same ? c.in : c.out, ops::table());
  ASSERT_TRUE(wanted) << wanted.error().text();
  EXPECT_EQ(Canonical(**wanted).text(), Canonical(**graph).text()) << rewrite::text_of(*stats);
  if (!c.same) expect_equal_results(*original, **graph);
}

INSTANTIATE_TEST_SUITE_P(Text, RuleText, testing::ValuesIn(all_cases()), [](const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.file + "_" + info.param.name;
  for (char& ch : name)
    if (!std::isalnum(static_cast<unsigned char>(ch))) ch = '_';
  return name + "_" + std::to_string(info.index);
});

TEST(Rules, EveryEquationParses) {
  std::vector<const rewrite::Rule*> all;
  for (const rules::RuleFile& file : rules::all_files())
    for (const rewrite::Rule& rule : file.list->rules) all.push_back(&rule);
  const auto set = rewrite::RuleSet::make(all, ops::table());
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_TRUE(set->inactive().empty()) << set->inactive()[0];
}

TEST(Rules, NamesAreUnique) {
  std::map<std::string_view, int> seen;
  for (const rules::RuleFile& file : rules::all_files())
    for (const rewrite::Rule& rule : file.list->rules) EXPECT_EQ(++seen[rule.name], 1) << rule.name;
}

TEST(Rules, EveryRuleHasATestThatItMustPass) {
  std::string tested;
  for (const Case& c : all_cases()) tested += ", " + c.rules + ",";
  for (const rules::RuleFile& file : rules::all_files())
    for (const rewrite::Rule& rule : file.list->rules)
      EXPECT_NE(tested.find(" " + std::string(rule.name) + ","), std::string::npos) << rule.name;
}

}  // namespace
}  // namespace tenon::tests
