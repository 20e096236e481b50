// SPDX-License-Identifier: Apache-2.0
// Rules that are declared exact are exact: to the bit, on special numbers and empty tensors.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "cases.h"
#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"

namespace tenon::tests {
namespace {

/// A drawn number may be a size.
const ops::EvaluateOptions kSmall = {.byte_limit = int64_t{1} << 26, .on_value = {}};

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

INSTANTIATE_TEST_SUITE_P(Text, ExactRules, testing::ValuesIn(exact_cases()), test_name);

}  // namespace
}  // namespace tenon::tests
