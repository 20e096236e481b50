// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "helpers.h"
#include "ops/evaluate.h"

namespace tenon::compiler::testing {
namespace {

/// Spread enough that the running maximum of a row grows from one block of keys to the next.
Tensor drawn(Sizes shape, uint64_t seed, double spread) {
  Tensor t = *Tensor::make(DType::f32, std::move(shape));
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, spread);
  for (int64_t i = 0; i < t.count(); ++i) t.set_number(i, normal(random));
  return t;
}

void expect_like_reference(std::string_view text, std::vector<Tensor> inputs) {
  auto graph = ir::parse(text, ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  const auto got = compiled_results(std::move(*graph), inputs, 3);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(difference((*want)[0], (*got)[0]), "");
}

// The kernel takes keys in blocks of 256: more keys than that show whether the blocks are joined rightly.
TEST(Attention, JoinsBlocksOfKeys) {
  expect_like_reference("graph main(q: f32[b,4,s,16], k: f32[b,2,t,16], v: f32[b,2,t,24]) {\n y = Attention(q, k, v)\n return y\n}\n",
                        {drawn({2, 4, 5, 16}, 1, 2), drawn({2, 2, 601, 16}, 2, 2), drawn({2, 2, 601, 24}, 3, 1)});
}

TEST(Attention, CausalOverBlocksOfKeys) {
  expect_like_reference(
      "graph main(q: f32[b,2,s,16], k: f32[b,2,s,16], v: f32[b,2,s,16]) {\n y = Attention(q, k, v, is_causal=1)\n return y\n}\n",
      {drawn({1, 2, 530, 16}, 4, 2), drawn({1, 2, 530, 16}, 5, 2), drawn({1, 2, 530, 16}, 6, 1)});
}

TEST(Attention, MaskedOverBlocksOfKeys) {
  expect_like_reference(
      "graph main(q: f32[b,2,s,16], k: f32[b,2,t,16], v: f32[b,2,t,16], m: f32[b,1,s,t]) {\n y = Attention(q, k, v, m)\n return y\n}\n",
      {drawn({2, 2, 9, 16}, 7, 2), drawn({2, 2, 300, 16}, 8, 2), drawn({2, 2, 300, 16}, 9, 1), drawn({2, 1, 9, 300}, 10, 4)});
}

}  // namespace
}  // namespace tenon::compiler::testing
