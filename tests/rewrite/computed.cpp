// SPDX-License-Identifier: Apache-2.0
// Constants and attributes that right sides compute when they are built.
#include <cmath>
#include <limits>

#include "helpers.h"

namespace tenon::tests {
namespace {

using rewrite::Rule;

TEST(Computed, ConstantsAreMultipliedElementByElementAndRoundedOnce) {
  auto g = graph_of(
      "graph main(x: f16[2,2]) {\n const a: f16[2,1] = [0.1, 3]\n const c: f16[2] = [0.7, 5]\n p = Mul(a, x)\n y = Mul(p, c)\n return y\n}\n");
  constexpr Rule rule{
      .name = "rule", .docs = "", .equation = "Mul(Mul(?x, ?a), ?b) => Mul(?x, const(?a * ?b)) where constant(?a), constant(?b)"};
  run(*g, {&rule});
  ASSERT_EQ(ops_of(*g), "Mul");
  const Tensor* c = g->tensor_of(g->node(g->first()).inputs[1]);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->dtype(), DType::f16);
  EXPECT_EQ(c->shape(), (Sizes{2, 2}));
  Tensor expected = *Tensor::make(DType::f16, {2, 2});
  Tensor a = Tensor::scalar(DType::f16, 0.1), b = Tensor::scalar(DType::f16, 0.7);
  store_numbers(expected, std::vector<double>{a.number(0) * b.number(0), a.number(0) * 5, 3 * b.number(0), 15});
  EXPECT_EQ(numbers_of(*c), numbers_of(expected));
}

TEST(Computed, NumbersKeepThePrecisionOfF64) {
  auto g = graph_of("graph main(x: f64[2]) {\n const c: f64[] = [0.1234567890123456]\n y = Div(x, c)\n return y\n}\n");
  constexpr Rule rule{.name = "rule", .docs = "", .equation = "Div(?x, ?c) => Mul(?x, const(1 / value(?c)))"};
  run(*g, {&rule});
  EXPECT_EQ(g->tensor_of(g->node(g->first()).inputs[1])->number(0), 1 / 0.1234567890123456);
}

/// The constant that `function` makes of two constants of four elements.
std::vector<double> computed(const std::string& function, const std::string& a, const std::string& b) {
  auto g = graph_of("graph main(x: f64[4]) {\n const a: f64[4] = [" + a + "]\n const b: f64[4] = [" + b +
                    "]\n p = Mul(a, x)\n y = Mul(p, b)\n return y\n}\n");
  const std::string equation = "Mul(Mul(?x, ?a), ?b) => Mul(?x, const(" + function + "(?a, ?b))) where constant(?a), constant(?b)";
  const Rule rule{.name = "rule", .docs = "", .equation = equation};
  run(*g, {&rule});
  return numbers_of(*g->tensor_of(g->node(g->first()).inputs[1]));
}

TEST(Computed, MinimumAndMaximumOrderZerosBySign) {
  const std::string a = "0.0, -0.0, nan, 1", b = "-0.0, 0.0, 1, nan";
  const auto least = computed("minimum", a, b), most = computed("maximum", a, b);
  EXPECT_TRUE(std::signbit(least[0]) && std::signbit(least[1]));
  EXPECT_FALSE(std::signbit(most[0]) || std::signbit(most[1]));
  EXPECT_TRUE(std::isnan(least[2]) && std::isnan(least[3]) && std::isnan(most[2]) && std::isnan(most[3]));
}

TEST(Computed, ModuloOfFloatsIsExact) {
  EXPECT_EQ(computed("modulo", "5, -5, 1e20, -7", "inf, inf, 3, 2.5"),
            (std::vector<double>{5, std::numeric_limits<double>::infinity(), std::fmod(1e20, 3), 0.5}));
}

TEST(Computed, FloorDivideRoundsDown) {
  EXPECT_EQ(computed("floor_divide", "7, -7, 7, -7", "2, 2, -2, -2"), (std::vector<double>{3, -4, -4, 3}));
}

TEST(Computed, Attributes) {
  auto g = graph_of("graph main(x: f32[2,3,4]) {\n t = Transpose(x, perm=[1,2,0])\n y = Transpose(t, perm=[2,1,0])\n return y\n}\n");
  constexpr Rule rule{
      .name = "compose", .docs = "", .equation = "Transpose(Transpose(?x, perm=?p), perm=?q) => Transpose(?x, perm=compose(?p, ?q))"};
  run(*g, {&rule});
  ASSERT_EQ(ops_of(*g), "Transpose");
  EXPECT_EQ(g->node(g->first()).attributes.ints("perm"), (ir::Ints{0, 2, 1}));
}

}  // namespace
}  // namespace tenon::tests
