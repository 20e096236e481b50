// SPDX-License-Identifier: Apache-2.0
// Whole sets over the graph of every case in *.tn: they settle, leave a valid graph, and change no result by more than rounding, whatever
// the rules make of each other's work.
#include <gtest/gtest.h>

#include <cmath>

#include "cases.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"

namespace tenon::tests {
namespace {

/// A drawn number may be a size.
const ops::EvaluateOptions kSmall = {.byte_limit = int64_t{1} << 26, .on_value = {}};

using rewrite::Stage;

/// The rules of a set, up to a stage.
const rewrite::RuleSet& set_of(const std::string& expression, Stage last) {
  static std::map<std::pair<std::string, Stage>, rewrite::RuleSet> sets;
  const auto key = std::pair(expression, last);
  if (const auto it = sets.find(key); it != sets.end()) return it->second;
  std::vector<const rewrite::Rule*> chosen;
  for (const rules::Entry& e : *rules::select(expression))
    if (e.stage <= last) chosen.push_back(e.rule);
  return sets.emplace(key, *rewrite::RuleSet::make(chosen, ops::table())).first->second;
}

std::string text_of_reports(const rewrite::Statistics& stats) {
  std::string out;
  for (const std::string& report : stats.reports) out += report + "\n";
  return out;
}

/// The scale for tolerances, from large elements of the tensor: errors of rounding are far below it, wrong elements are not.
double scale_of(const Tensor& t) {
  double most = 1;
  for (int64_t k = 0; k < t.count(); ++k)
    if (std::isfinite(t.number(k))) most = std::max(most, std::abs(t.number(k)));
  return most;
}

void expect_close(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  if (a.holds_tensors()) {
    for (size_t k = 0; k < a.elements().size(); ++k) expect_close(a.elements()[k], b.elements()[k], tolerance);
    return;
  }
  const double scale = scale_of(a);
  for (int64_t k = 0; k < a.count(); ++k) {
    const double x = a.number(k), y = b.number(k);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    ASSERT_NEAR(x, y, tolerance * scale) << "element " << k;
  }
}

class RuleSets : public testing::TestWithParam<Case> {};

void run_set(const Case& c, const std::string& expression, bool staged) {
  SCOPED_TRACE(expression + (staged ? ", stage by stage" : ", at once"));
  const auto before = ir::parse(c.in, ops::table());
  ASSERT_TRUE(before) << before.error().text();
  const auto after = (*before)->clone();
  for (Stage last : {Stage::clean, Stage::fuse, Stage::trim, Stage::combine}) {
    if (!staged && last != Stage::combine) continue;
    const auto stats = rewrite::rewrite(*after, set_of(expression, last));
    ASSERT_TRUE(stats) << stats.error().text();
    EXPECT_TRUE(stats->reports.empty()) << text_of_reports(*stats);
    EXPECT_LT(stats->sweeps, rewrite::Options().sweeps);
  }
  const auto ok = ir::verify(*after);
  ASSERT_TRUE(ok) << ok.error().text() << "\n" << ir::print(*after);
  if (is_random(**before)) return;
  std::mt19937 random(11);
  const auto inputs = draw_inputs(**before, random);
  const auto a = ops::evaluate(**before, inputs, kSmall);
  if (!a) return;  // drawn inputs need not be legal
  const auto b = ops::evaluate(*after, inputs, kSmall);
  ASSERT_TRUE(b) << b.error().text() << "\n" << ir::print(*after);
  ASSERT_EQ(a->size(), b->size());
  const bool half = c.in.find("f16") != std::string::npos;  // also bf16
  for (size_t i = 0; i < a->size(); ++i) expect_close((*a)[i], (*b)[i], half ? 4e-2 : 1e-4);
}

TEST_P(RuleSets, SettleAndKeepResults) {
  for (const char* expression : {"default", "tenon+default"})
    for (bool staged : {true, false}) run_set(GetParam(), expression, staged);
}

INSTANTIATE_TEST_SUITE_P(Text, RuleSets, testing::ValuesIn(all_cases(TENON_TEST_DATA)), test_name);

}  // namespace
}  // namespace tenon::tests
