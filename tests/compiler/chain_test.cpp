// SPDX-License-Identifier: Apache-2.0
// Thousands of point-wise nodes in a row are right, and compile to code in proportion.
#include <gtest/gtest.h>

#include <random>

#include "helpers.h"
#include "ops/core/sample.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler {
namespace {

/// Nodes that keep values of modest size; every `stride`-th value is a result too.
std::string chain(size_t nodes, size_t stride) {
  std::mt19937 random(5);
  const auto pick = [&](auto& list) { return std::string(list[random() % std::size(list)]); };
  static constexpr const char* kOne[] = {"Tanh", "Relu", "Sigmoid", "Neg", "Erf", "Abs", "Sin"};
  static constexpr const char* kTwo[] = {"Add", "Mul", "Sub", "Max", "Min"};
  static constexpr const char* kOthers[] = {"w", "y", "c", "x"};
  std::string text = "graph main(x: f32[3,37], y: f32[3,37], w: f32[37]) {\n  const c: f32[] = [0.9]\n", last = "x", results;
  for (size_t k = 1; k <= nodes; ++k) {
    const std::string name = "v" + std::to_string(k), other = pick(kOthers);
    const bool one = k % 6 == 0 || random() % 3 == 0;
    const std::string call = k % 6 == 0 ? "Tanh(" + last : one ? pick(kOne) + "(" + last : pick(kTwo) + "(" + last + ", " + other;
    text += "  " + name + " = " + call + ")\n";
    if (k % stride == 0 && k != nodes) results += name + ", ";
    last = name;
  }
  return text + "  return " + results + last + "\n}";
}

void expect_right(size_t nodes, size_t stride) {
  const std::string text = chain(nodes, stride);
  const std::vector<Tensor> inputs{*ops::random_tensor(DType::f32, {3, 37}, 1), *ops::random_tensor(DType::f32, {3, 37}, 2),
                                   *ops::random_tensor(DType::f32, {37}, 3)};
  const auto want = ops::evaluate(**ir::parse(text, ops::table()), inputs);
  ASSERT_TRUE(want) << want.error().text();
  const auto got = testing::compiled_results(*ir::parse(text, ops::table()), inputs, 3);
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_EQ(got->size(), want->size());
  // Rounding differs at each node, and what bends (Tanh, Erf) damps as often as products stretch.
  for (size_t k = 0; k < want->size(); ++k) EXPECT_EQ(testing::difference((*want)[k], (*got)[k], 20), "") << "result " << k;
}

TEST(Chain, OfFiveThousandNodesIsRight) { expect_right(5000, 5000); }
TEST(Chain, WithAThousandResultsIsRight) { expect_right(5000, 5); }

TEST(Chain, CompilesToCodeInProportion) {
  size_t kernels[2], bytes[2];
  for (size_t k : {0, 1}) {
    const size_t nodes = k == 0 ? 1000 : 4000;
    auto compiled = compile(*ir::parse(chain(nodes, nodes), ops::table()), {});
    ASSERT_TRUE(compiled) << compiled.error().text();
    kernels[k] = compiled->report.kernels;
    bytes[k] = compiled->report.code_bytes;
    EXPECT_GE(kernels[k], nodes / 64);
    EXPECT_LE(kernels[k], nodes / 10);
  }
  EXPECT_LE(kernels[1], 5 * kernels[0]);
  EXPECT_LE(bytes[1], 5 * bytes[0]);
}

}  // namespace
}  // namespace tenon::compiler
