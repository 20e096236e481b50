// SPDX-License-Identifier: Apache-2.0
// Runs every *.tn in the folders beside it. A file holds cases:
//
//   case: a name
//   rules: transpose_compose, noop        names of rules or of files of rules
//   numerics: approximate                 where rules are to run that lose precision
//   assumes: labels are classes           what the rule takes for granted and drawn inputs are not; then only two tame draws judge
//   in:
//     graph main(...) { ... }
//   out:                                  or `same:` where nothing may match
//     graph main(...) { ... }
//
// `out` and the rewritten graph are compared by what their outputs compute; names inside and node order do not matter.
// Each rewritten graph is also evaluated by the reference beside the original, on drawn inputs.
#include <gtest/gtest.h>

#include <cmath>

#include "canonical.h"
#include "cases.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "rewrite/driver/driver.h"
#include "rewrite/verify/verification.h"
#include "rules/registry/registry.h"

namespace tenon::tests {
namespace {

/// The tolerance, relative to max(1, |number|): a few roundings to the dtype.
double tolerance_of(DType dtype) { return dtype == DType::f16 ? 4e-3 : dtype == DType::bf16 ? 3e-2 : 2e-5; }

void expect_equal(const Tensor& a, const Tensor& b, bool approximate) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  if (a.holds_tensors()) {
    for (size_t k = 0; k < a.elements().size(); ++k) expect_equal(a.elements()[k], b.elements()[k], approximate);
    return;
  }
  const double tolerance = approximate ? tolerance_of(DType::f16) : tolerance_of(a.dtype());
  for (int64_t k = 0; k < a.count(); ++k) {
    const double x = a.number(k), y = b.number(k);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;  // infinities too
    ASSERT_NEAR(x, y, tolerance * std::max(1.0, std::abs(x))) << "element " << k;
  }
}

void expect_equal_results(const ir::Graph& before, const ir::Graph& after, bool approximate) {
  std::mt19937 random(7);
  for (int round = 0; round < 2; ++round) {
    const auto inputs = draw_inputs(before, random);
    const auto a = ops::evaluate(before, inputs), b = ops::evaluate(after, inputs);
    ASSERT_TRUE(a) << a.error().text();
    ASSERT_TRUE(b) << b.error().text();
    for (size_t i = 0; i < a->size(); ++i) {
      SCOPED_TRACE("output " + std::to_string(i));
      expect_equal((*a)[i], (*b)[i], approximate);
    }
  }
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
  rewrite::Verifier verifier(rewrite::Verify::all);
  rewrite::Options options;
  options.allowed = c.numerics;
  if (c.assumes.empty()) options.check = std::ref(verifier);
  const auto stats = rewrite::rewrite(**graph, *set, options);
  ASSERT_TRUE(stats) << stats.error().text();
  EXPECT_TRUE(stats->reports.empty()) << stats->reports[0];
  EXPECT_TRUE(verifier.result().unverified.empty()) << rewrite::text_of(verifier.result());
  const auto ok = ir::verify(**graph);
  ASSERT_TRUE(ok) << ok.error().text();
  const auto wanted = ir::parse(c.same ? c.in : c.out, ops::table());
  ASSERT_TRUE(wanted) << wanted.error().text();
  EXPECT_EQ(Canonical(**wanted).text(), Canonical(**graph).text()) << rewrite::text_of(*stats);
  if (!c.same) expect_equal_results(*original, **graph, options.allowed == rewrite::Numerics::approximate);
}

INSTANTIATE_TEST_SUITE_P(Text, RuleText, testing::ValuesIn(all_cases(TENON_TEST_DATA)), [](const testing::TestParamInfo<Case>& info) {
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
  for (const Case& c : all_cases(TENON_TEST_DATA)) tested += ", " + c.rules + ",";
  for (const rules::RuleFile& file : rules::all_files())
    for (const rewrite::Rule& rule : file.list->rules)
      EXPECT_NE(tested.find(" " + std::string(rule.name) + ","), std::string::npos) << rule.name;
}

}  // namespace
}  // namespace tenon::tests
