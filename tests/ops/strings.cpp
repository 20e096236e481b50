// SPDX-License-Identifier: Apache-2.0
// Ops that move elements accept strings and complex numbers; those that compute refuse them.
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"

namespace tenon::ops {
namespace {

Tensor words(Sizes shape, std::vector<std::string> list) { return Tensor::of_strings(std::move(shape), std::move(list)); }

std::vector<Tensor> results(std::string_view text, const std::vector<Tensor>& inputs) {
  auto graph = ir::parse(text, table());
  EXPECT_TRUE(graph) << graph.error().text();
  if (!graph) return {};
  auto out = evaluate(**graph, inputs);
  EXPECT_TRUE(out) << out.error().text();
  return out ? *std::move(out) : std::vector<Tensor>();
}

void expect_refused(std::string_view text, Code code) {
  const auto graph = ir::parse(text, table());
  ASSERT_FALSE(graph) << text;
  EXPECT_EQ(graph.error().code(), code) << graph.error().text();
}

/// A c64[2] with these real and imaginary parts.
Tensor complex_pair(float a, float b, float c, float d) {
  Tensor out = *Tensor::make(DType::c64, {2});
  float* const parts = reinterpret_cast<float*>(out.mutable_data());
  parts[0] = a, parts[1] = b, parts[2] = c, parts[3] = d;
  return out;
}

TEST(Strings, UniqueSortsThemByTheirBytes) {
  const Tensor x = words({2, 3}, {"b", "a", "b", "ä", "", "a"});
  const auto flat = results("graph(x: string[2,3]) { y, i, v, c = Unique(x) return y, i, v, c }", {x});
  ASSERT_EQ(flat.size(), 4u);
  EXPECT_EQ(flat[0].strings(), (std::vector<std::string>{"", "a", "b", "ä"}));
  EXPECT_EQ(integers_of(flat[1]), (std::vector<int64_t>{4, 1, 0, 3}));
  EXPECT_EQ(integers_of(flat[2]), (std::vector<int64_t>{2, 1, 2, 3, 0, 1}));
  EXPECT_EQ(integers_of(flat[3]), (std::vector<int64_t>{1, 2, 2, 1}));
  const auto rows = results("graph(x: string[2,3]) { y = Unique(x, axis=0) return y }", {words({2, 3}, {"b", "a", "b", "b", "", "a"})});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].strings(), (std::vector<std::string>{"b", "", "a", "b", "a", "b"}));
}

TEST(Strings, NonZeroFindsThoseThatAreNotEmpty) {
  const auto out = results("graph(x: string[2,2]) { y = NonZero(x) return y }", {words({2, 2}, {"", "a", "0", ""})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(integers_of(out[0]), (std::vector<int64_t>{0, 1, 1, 0}));
}

TEST(Strings, TriluBlanksThem) {
  const auto out = results("graph(x: string[2,2]) { y = Trilu(x, upper=0) return y }", {words({2, 2}, {"a", "b", "c", "d"})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].strings(), (std::vector<std::string>{"a", "", "c", "d"}));
}

TEST(Strings, ResizeAndGridSamplePickTheNearest) {
  const auto larger =
      results("graph(x: string[2]) { const n: i64[1] = [4] y = Resize(x, _, _, n, mode=\"nearest\") return y }", {words({2}, {"a", "b"})});
  ASSERT_EQ(larger.size(), 1u);
  EXPECT_EQ(larger[0].strings(), (std::vector<std::string>{"a", "a", "b", "b"}));
  const auto picked = results(
      "graph(x: string[1,1,2]) { const g: f32[1,3,1] = [-1, 1, 5] y = GridSample(x, g, mode=\"nearest\", align_corners=1) return y }",
      {words({1, 1, 2}, {"a", "b"})});
  ASSERT_EQ(picked.size(), 1u);
  EXPECT_EQ(picked[0].strings(), (std::vector<std::string>{"a", "b", ""}));
}

TEST(Strings, AreRefusedByOpsThatCompute) {
  expect_refused("graph(x: string[2]) { const n: i64[1] = [4] y = Resize(x, _, _, n, mode=\"linear\") return y }", Code::dtype_mismatch);
  expect_refused("graph(x: string[1,1,2], g: f32[1,3,1]) { y = GridSample(x, g) return y }", Code::dtype_mismatch);
  expect_refused("graph(x: string[2], i: i64[1,1], u: string[1]) { y = ScatterND(x, i, u, reduction=\"max\") return y }",
                 Code::dtype_mismatch);
  expect_refused("graph(x: string[2], i: i64[1], u: string[1]) { y = ScatterElements(x, i, u, reduction=\"add\") return y }",
                 Code::dtype_mismatch);
  expect_refused("graph(x: string[2]) { y = RandomNormalLike(x) return y }", Code::dtype_mismatch);
  expect_refused(
      "graph(x: string[2]) { y = TfIdfVectorizer(x, max_gram_length=1, max_skip_count=0, min_gram_length=1, mode=\"TF\","
      " ngram_counts=[0], ngram_indexes=[0], pool_int64s=[1]) return y }",
      Code::bad_attribute);
}

TEST(Complex, UniqueNonZeroAndNearestKeepImaginaryParts) {
  const auto found = results("graph(x: c64[2]) { y = NonZero(x) return y }", {complex_pair(0, 0, 0, 2)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(integers_of(found[0]), std::vector<int64_t>{1});
  const auto unique = results("graph(x: c64[2]) { y, i = Unique(x) return y, i }", {complex_pair(1, 3, 1, 2)});
  ASSERT_EQ(unique.size(), 2u);
  EXPECT_EQ(integers_of(unique[1]), (std::vector<int64_t>{1, 0}));
  const auto larger =
      results("graph(x: c64[2]) { const n: i64[1] = [4] y = Resize(x, _, _, n, mode=\"nearest\") return y }", {complex_pair(1, 3, 1, 2)});
  ASSERT_EQ(larger.size(), 1u);
  EXPECT_EQ(reinterpret_cast<const float*>(larger[0].data())[3], 3);
}

TEST(Whole, NumbersBeyondDoublesSurviveNearest) {
  constexpr int64_t kLarge = (int64_t{1} << 53) + 1;
  const auto larger = results("graph(x: i64[1]) { const n: i64[1] = [2] y = Resize(x, _, _, n, mode=\"nearest\") return y }",
                              {Tensor::of_i64({1}, {&kLarge, 1})});
  ASSERT_EQ(larger.size(), 1u);
  EXPECT_EQ(integers_of(larger[0]), (std::vector<int64_t>{kLarge, kLarge}));
}

TEST(Random, DrawsBoolsAndIntegersOnRequest) {
  EXPECT_TRUE(ir::parse("graph(x: f32[2]) { y: bool[2] = Bernoulli(x, dtype=9) z: i32[2] = Bernoulli(x, dtype=6) return y, z }", table()));
}

TEST(LinearAttentionSizes, OfDecayMayBeKnownWhereTheQuerysAreNot) {
  EXPECT_TRUE(
      ir::parse("graph(q: f32[b,t,h], k: f32[1,4,8], v: f32[1,4,8], d: f32[1,4,8]) {"
                " y, s = LinearAttention(q, k, v, _, d, q_num_heads=2, kv_num_heads=1, update_rule=\"gated\") return y, s }",
                table()));
}

}  // namespace
}  // namespace tenon::ops
