// SPDX-License-Identifier: Apache-2.0
// Whole sets over the graph of every case in *.tn: they settle, leave a valid graph, and change no result by more than rounding, whatever
// the rules make of each other's work. And what a rule calls exact is exact: to the bit, on special numbers and empty tensors.
#include <gtest/gtest.h>

#include <bit>
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

bool is_random(const ir::Graph& graph) {
  for (ir::NodeId node : graph.nodes())
    if (!graph.node(node).op->deterministic) return true;
  return false;
}

std::string text_of_reports(const rewrite::Statistics& stats) {
  std::string out;
  for (const std::string& report : stats.reports) out += report + "\n";
  return out;
}

/// Of what is large in the tensor: a wrong element is far off, a rounding is not.
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
  for (Stage last : {Stage::clean, Stage::fuse, Stage::combine}) {
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

/// Numbers at which arithmetic has corners.
Tensor draw_special(DType dtype, const Sizes& shape, std::mt19937& random) {
  constexpr double kFloats[] = {0.0, -0.0, 1, -1, 0.5, -2.5, 3.0000002, 1e-7, -6e-8, 65504, -1e30, INFINITY, -INFINITY, NAN};
  constexpr int64_t kIntegers[] = {0, 1, -1, 2, 127, -128, 300, -40000, 70000, 1LL << 31, -(1LL << 31), INT64_MAX, INT64_MIN};
  Tensor t = *Tensor::make(dtype, shape);
  for (int64_t i = 0; i < t.count(); ++i) {
    if (is_float(dtype)) t.set_number(i, kFloats[random() % std::size(kFloats)]);
    else if (dtype == DType::boolean) t.set_integer(i, static_cast<int64_t>(random() % 2));
    else t.set_integer(i, kIntegers[random() % std::size(kIntegers)]);
  }
  return t;
}

std::vector<Tensor> draw_special_inputs(const ir::Graph& graph, std::mt19937& random) {
  constexpr int64_t kSizes[] = {0, 1, 2, 3, 7};
  std::map<std::string, int64_t> sizes;
  std::vector<Tensor> inputs;
  for (ir::ValueId id : graph.inputs()) {
    Sizes shape;
    for (Dim d : *graph.value(id).type.shape) {
      if (!d.is_number() && !sizes.contains(d.text())) sizes[d.text()] = kSizes[random() % std::size(kSizes)];
      shape.push_back(d.is_number() ? d.value() : sizes[d.text()]);
    }
    inputs.push_back(draw_special(graph.value(id).type.dtype, shape, random));
  }
  return inputs;
}

void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.dtype(), b.dtype());
  ASSERT_EQ(a.shape(), b.shape());
  if (a.holds_tensors()) {
    for (size_t k = 0; k < a.elements().size(); ++k) expect_same_bits(a.elements()[k], b.elements()[k]);
    return;
  }
  for (int64_t k = 0; k < a.count(); ++k) {
    if (!is_float(a.dtype())) {
      ASSERT_EQ(a.integer(k), b.integer(k)) << "element " << k;
    } else if (!std::isnan(a.number(k)) || !std::isnan(b.number(k))) {
      ASSERT_EQ(std::bit_cast<int64_t>(a.number(k)), std::bit_cast<int64_t>(b.number(k)))
          << "element " << k << ": " << a.number(k) << " and " << b.number(k);
    }
  }
}

/// Cases that change something by rules of which all are called exact.
std::vector<Case> exact_cases() {
  std::vector<Case> out;
  for (Case& c : all_cases(TENON_TEST_DATA)) {
    const auto rules = named(c.rules);
    if (!c.same && std::ranges::all_of(rules, [](const auto* r) { return r->numerics == rewrite::Numerics::exact; })) out.push_back(c);
  }
  return out;
}

class ExactRules : public testing::TestWithParam<Case> {};

TEST_P(ExactRules, KeepEveryBit) {
  const auto before = ir::parse(GetParam().in, ops::table());
  ASSERT_TRUE(before) << before.error().text();
  if (is_random(**before)) return;
  const auto after = (*before)->clone();
  const auto set = rewrite::RuleSet::make(named(GetParam().rules), ops::table());
  ASSERT_TRUE(set && rewrite::rewrite(*after, *set));
  std::mt19937 random(5);
  for (int round = 0; round < 12; ++round) {
    const auto inputs = draw_special_inputs(**before, random);
    const auto a = ops::evaluate(**before, inputs, kSmall);
    if (!a) continue;  // drawn inputs need not be legal
    const auto b = ops::evaluate(*after, inputs, kSmall);
    ASSERT_TRUE(b) << b.error().text();
    for (size_t i = 0; i < a->size(); ++i) expect_same_bits((*a)[i], (*b)[i]);
  }
}

std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.file + "_" + info.param.name;
  for (char& ch : name)
    if (!std::isalnum(static_cast<unsigned char>(ch))) ch = '_';
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Text, RuleSets, testing::ValuesIn(all_cases(TENON_TEST_DATA)), test_name);
INSTANTIATE_TEST_SUITE_P(Text, ExactRules, testing::ValuesIn(exact_cases()), test_name);

}  // namespace
}  // namespace tenon::tests
