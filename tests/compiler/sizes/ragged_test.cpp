// SPDX-License-Identifier: Apache-2.0
// Attention within packed sequences, as kernels run it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "helpers.h"
#include "ops/reference/evaluate.h"

namespace tenon::compiler::testing {
namespace {

Tensor drawn(Sizes shape, uint64_t seed, double spread = 1) {
  Tensor t = *Tensor::make(DType::f32, std::move(shape));
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, spread);
  for (int64_t i = 0; i < t.count(); ++i) t.set_number(i, normal(random));
  return t;
}

Tensor starts_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> starts{0};
  for (int64_t n : lengths) starts.push_back(starts.back() + n);
  return Tensor::of_i64({static_cast<int64_t>(starts.size())}, starts);
}

/// `longest` follows from the size of `cut`, as it does from a mask: what kernels need.
std::string graph_of(int64_t heads, int64_t key_heads, int64_t size, int64_t value_size, std::string_view mask,
                     std::string_view attributes) {
  return fmt::format(
      "graph main(q: f32[n,{},{}], k: f32[m,{},{}], v: f32[m,{},{}], a: i64[c], b: i64[c], cut: f32[l]{}) {{\n"
      "  const none: i64[1] = [0]\n  size = Shape(cut)\n  longest = Squeeze(size, none)\n"
      "  y = tenon::RaggedAttention(q, k, v, a, b, longest{}{})\n  return y\n}}\n",
      heads, size, key_heads, size, key_heads, value_size, mask.empty() ? "" : fmt::format(", mask: {}[m]", mask),
      mask.empty() ? "" : ", mask", attributes);
}

void expect_like_reference(const std::string& text, const std::vector<Tensor>& inputs) {
  auto graph = ir::parse(text, ops::table());
  SCOPED_TRACE(text);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  const auto got = compiled_results(std::move(*graph), inputs, 3);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(difference((*want)[0], (*got)[0]), "");
}

int64_t sum_of(const std::vector<int64_t>& lengths) { return std::reduce(lengths.begin(), lengths.end()); }

// More queries than a tile, more keys than a block, sequences of one and of none; `cut` too short, right, and far too long.
TEST(RaggedAttention, StaysWithinEachSequence) {
  const std::vector<int64_t> lengths{3, 0, 70, 1, 600, 33};
  const int64_t rows = sum_of(lengths);
  for (const int64_t cut : {1, 40, 600, 2000})
    expect_like_reference(graph_of(2, 2, 16, 16, "", ""), {drawn({rows, 2, 16}, 1, 2), drawn({rows, 2, 16}, 2, 2), drawn({rows, 2, 16}, 3),
                                                           starts_of(lengths), starts_of(lengths), drawn({cut}, 4)});
}

// Values of no whole registers, heads that share keys, queries of another number than keys.
TEST(RaggedAttention, TakesOtherQueriesThanKeys) {
  const std::vector<int64_t> queries{1, 1, 5, 0}, keys{4, 17, 30, 2};
  expect_like_reference(
      graph_of(4, 2, 12, 20, "", ", scale=0.3, softcap=4.0"),
      {drawn({7, 4, 12}, 1), drawn({53, 2, 12}, 2), drawn({53, 2, 20}, 3), starts_of(queries), starts_of(keys), drawn({5}, 4)});
}

TEST(RaggedAttention, MasksKeys) {
  const std::vector<int64_t> lengths{5, 9, 20};
  for (const std::string_view rows : {"zero", "nan", "clean"}) {
    Tensor chosen = *Tensor::make(DType::boolean, {34});
    for (int64_t i = 0; i < 34; ++i) chosen.set_integer(i, i >= 14 && i % 3 != 0);  // the first two sequences see nothing
    const std::vector<Tensor> operands{drawn({34, 2, 8}, 1), drawn({34, 2, 8}, 2), drawn({34, 2, 16}, 3),
                                       starts_of(lengths),   starts_of(lengths),   drawn({20}, 4)};
    std::vector<Tensor> with_bool = operands, with_numbers = operands;
    with_bool.push_back(chosen);
    with_numbers.push_back(drawn({34}, 5, 3));
    const std::string attribute = fmt::format(", masked_rows=\"{}\"", rows);
    expect_like_reference(graph_of(2, 2, 8, 16, "bool", attribute), with_bool);
    expect_like_reference(graph_of(2, 2, 8, 16, "f32", attribute), with_numbers);
  }
}

TEST(RaggedAttention, RunsAsAKernel) {
  auto graph = ir::parse(graph_of(2, 2, 16, 16, "f32", ""), ops::table());
  ASSERT_TRUE(graph) << graph.error().text();
  const auto compiled = compile(std::move(*graph), {});
  ASSERT_TRUE(compiled) << compiled.error().text();
  EXPECT_TRUE(compiled->built.programs[0].blobs.empty());
}

}  // namespace
}  // namespace tenon::compiler::testing
