// SPDX-License-Identifier: Apache-2.0
// Zeros of both signs, NaN and infinities in ops that are made of min and max: reference and loop form say the same, to the sign of zero.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.h"
#include "ops/evaluate.h"
#include "ops/interpret.h"
#include "ops/op.h"

namespace tenon::ops {
namespace {

constexpr double kSpecials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1};
constexpr size_t kCount = std::size(kSpecials);

/// Every pair of special values, x[i] and y[i].
std::vector<Tensor> pairs() {
  std::vector<Tensor> out;
  for (bool second : {false, true}) {
    Tensor t = *Tensor::make(DType::f32, {kCount * kCount});
    for (size_t i = 0; i < kCount * kCount; ++i) t.set_number(static_cast<int64_t>(i), kSpecials[second ? i % kCount : i / kCount]);
    out.push_back(std::move(t));
  }
  return out;
}

std::string text(double x) { return std::isnan(x) ? "nan" : (std::signbit(x) ? "-" : "+") + std::to_string(std::fabs(x)); }

/// The results by reference, after they were held against the loop form.
std::vector<double> both(const std::string& call) {
  std::vector<double> out;
  auto graph = ir::parse("graph main(x: f32[49], y: f32[49]) { r = " + call + " return r }", table());
  EXPECT_TRUE(graph) << graph.error().text();
  if (!graph) return out;
  const std::vector<Tensor> inputs = pairs();
  const auto want = evaluate(**graph, inputs);
  EXPECT_TRUE(want) << want.error().text();
  const ir::NodeId node = *(*graph)->nodes().begin();
  const auto form = def_of(*(*graph)->node(node).op).form((*graph)->view(node));
  EXPECT_TRUE(form) << form.error().text();
  if (!want || !form) return out;
  std::vector<const Tensor*> operands;
  for (size_t k = 0; k < (*graph)->node(node).inputs.size(); ++k) operands.push_back(&inputs[k]);
  const auto got = interpret(*form, operands, [](const DimNode&) { return Dim(1); });
  EXPECT_TRUE(got) << got.error().text();
  for (int64_t i = 0; got && i < (*want)[0].count(); ++i) {
    out.push_back((*want)[0].number(i));
    EXPECT_EQ(text((*got)[0].number(i)), text(out.back())) << call << " of " << inputs[0].number(i) << ", " << inputs[1].number(i);
  }
  return out;
}

TEST(SpecialValues, MinAndMaxOrderZerosAndKeepNaN) {
  const std::vector<double> least = both("Min(x, y)"), most = both("Max(x, y)");
  for (size_t i = 0; i < least.size(); ++i) {
    const double x = kSpecials[i / kCount], y = kSpecials[i % kCount];
    EXPECT_EQ(std::isnan(least[i]), std::isnan(x) || std::isnan(y));
    EXPECT_EQ(std::isnan(most[i]), std::isnan(x) || std::isnan(y));
    if (x != 0 || y != 0) continue;
    EXPECT_EQ(std::signbit(least[i]), std::signbit(x) || std::signbit(y));
    EXPECT_EQ(std::signbit(most[i]), std::signbit(x) && std::signbit(y));
  }
}

TEST(SpecialValues, WhatIsMadeOfMinAndMaxAgreesWithItsReference) {
  for (const char* call : {"Relu(x)", "HardSigmoid(x)", "HardSwish(x)", "Softplus(x)", "Mish(x)", "Celu(x)"}) both(call);
}

}  // namespace
}  // namespace tenon::ops
