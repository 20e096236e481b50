// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "helpers.h"
#include "ops/reference/evaluate.h"

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
  SCOPED_TRACE(text);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto want = ops::evaluate(**graph, inputs);
  ASSERT_TRUE(want) << want.error().text();
  const auto got = compiled_results(std::move(*graph), inputs, 3);
  ASSERT_TRUE(got) << got.error().text();
  EXPECT_EQ(difference((*want)[0], (*got)[0]), "");
}

// The kernel takes keys in blocks of 512: more keys than that show whether the blocks are joined rightly.
TEST(Attention, JoinsBlocksOfKeys) {
  expect_like_reference("graph main(q: f32[b,4,s,16], k: f32[b,2,t,16], v: f32[b,2,t,24]) {\n y = Attention(q, k, v)\n return y\n}\n",
                        {drawn({2, 4, 5, 16}, 1, 2), drawn({2, 2, 601, 16}, 2, 2), drawn({2, 2, 601, 24}, 3, 1)});
}

// With one head and few queries several tasks have keys of the same query: 3000 keys are eight parts. Scores grow from part to part.
TEST(Attention, DealsOutKeysWhereHeadsAreFew) {
  for (const int64_t queries : {1, 17, 40})
    for (const std::string_view keys : {"t", "3000"})
      expect_like_reference(
          fmt::format("graph main(q: f32[1,1,s,16], k: f32[1,1,{0},16], v: f32[1,1,{0},20]) {{\n y = Attention(q, k, v)\n return y\n}}\n",
                      keys),
          {drawn({1, 1, queries, 16}, 1, 2), drawn({1, 1, 3000, 16}, 2, 2), drawn({1, 1, 3000, 20}, 3, 1)});
}

// The first query sees no key, the second none of the first part, the third one key alone, in the last; the fourth has no softmax.
TEST(Attention, JoinsPartsWithoutAnyKey) {
  const Tensor q = drawn({1, 1, 4, 16}, 7, 2), k = drawn({1, 1, 2000, 16}, 8, 2), v = drawn({1, 1, 2000, 16}, 9, 1);
  Tensor m = drawn({1, 1, 4, 2000}, 10, 4);
  for (int64_t key = 0; key < 2000; ++key)
    for (int64_t query = 0; query < 3; ++query)
      if (query == 0 || (query == 1 ? key < 400 : key != 1990)) m.set_number(query * 2000 + key, -std::numeric_limits<double>::infinity());
  m.set_number(3 * 2000 + 700, std::numeric_limits<double>::quiet_NaN());
  for (const char* rows : {"zero", "nan", "clean"})
    expect_like_reference(
        "graph main(q: f32[1,1,s,16], k: f32[1,1,t,16], v: f32[1,1,t,16], m: f32[1,1,s,t]) {\n y = Attention(q, k, v, m, masked_rows=\"" +
            std::string(rows) + "\")\n return y\n}\n",
        {q, k, v, m});
}

// A causal mask behind a cache of keys, as in decoding; with many queries each sees other keys.
TEST(Attention, DealsOutKeysOfACausalMask) {
  for (const int64_t queries : {1, 3, 300})
    expect_like_reference(
        "graph main(q: f32[1,1,s,16], k: f32[1,1,t,16], v: f32[1,1,t,16]) {\n y = Attention(q, k, v, is_causal=1)\n return y\n}\n",
        {drawn({1, 1, queries, 16}, 4, 2), drawn({1, 1, 900, 16}, 5, 2), drawn({1, 1, 900, 16}, 6, 1)});
}

// Neither fills its tiles: one query alone, a vector and one more, fewer keys than a tile has rows.
TEST(Attention, TakesAnyNumberOfQueriesAndKeys) {
  for (const int64_t queries : {1, 8, 9, 17, 33})
    for (const int64_t keys : {1, 5, 13})
      expect_like_reference("graph main(q: f32[b,2,s,16], k: f32[b,2,t,16], v: f32[b,2,t,20]) {\n y = Attention(q, k, v)\n return y\n}\n",
                            {drawn({1, 2, queries, 16}, 1, 2), drawn({1, 2, keys, 16}, 2, 2), drawn({1, 2, keys, 20}, 3, 1)});
}

// Queries are turned by squares of registers: heads that fill none, and queries whose elements stand apart.
TEST(Attention, TakesHeadsOfAnySizeAndOrder) {
  for (const int64_t size : {1, 5, 20, 33}) {
    const std::string d = std::to_string(size);
    expect_like_reference("graph main(q: f32[b,2," + d + ",s], k: f32[b,2,t," + d + "], v: f32[b,2,t,20]) {\n" +
                              " a = Transpose(q, perm=[0,1,3,2])\n y = Attention(a, k, v)\n return y\n}\n",
                          {drawn({1, 2, size, 19}, 1, 2), drawn({1, 2, 13, size}, 2, 2), drawn({1, 2, 13, 20}, 3, 1)});
    expect_like_reference(
        "graph main(q: f32[b,2,s," + d + "], k: f32[b,2,t," + d + "], v: f32[b,2,t,20]) {\n y = Attention(q, k, v)\n" + " return y\n}\n",
        {drawn({1, 2, 19, size}, 1, 2), drawn({1, 2, 13, size}, 2, 2), drawn({1, 2, 13, 20}, 3, 1)});
  }
}

constexpr std::string_view kMaskedGraph =
    "graph main(q: f32[b,2,s,16], k: f32[b,2,t,16], v: f32[b,2,t,16], m: f32[%]) {\n y = Attention(q, k, v, m)\n return y\n}\n";

void expect_masked(std::string_view mask, Sizes shape) {
  std::string text(kMaskedGraph);
  expect_like_reference(text.replace(text.find('%'), 1, mask), {drawn({1, 2, 19, 16}, 7, 2), drawn({1, 2, 30, 16}, 8, 2),
                                                                drawn({1, 2, 30, 16}, 9, 1), drawn(std::move(shape), 10, 4)});
}

TEST(Attention, MasksByKeyAndByPair) {
  expect_masked("b,1,1,t", {1, 1, 1, 30});
  expect_masked("1,2,s,t", {1, 2, 19, 30});
  expect_masked("t", {30});
}

TEST(Attention, HidesKeysThatAMaskOfOneColumnDoesNotReach) { expect_masked("b,1,s,1", {1, 1, 19, 1}); }

// The constant is turned, so that the queries lie along the lanes.
TEST(Attention, MasksByAConstant) {
  expect_like_reference(
      R"(graph main(q: f32[b,1,3,16], k: f32[b,1,2,16], v: f32[b,1,2,16]) {
    const m: f32[3,2] = [0, -1, 2, 3, -4, 5]
    y = Attention(q, k, v, m)
    return y
  })",
      {drawn({2, 1, 3, 16}, 7, 2), drawn({2, 1, 2, 16}, 8, 2), drawn({2, 1, 2, 16}, 9, 1)});
}

// Rows 1 and 2 see no key, and rows 4 and 5 have scores that no softmax takes.
TEST(Attention, FollowsTheAttributeForFullyMaskedRows) {
  Tensor q = drawn({1, 2, 9, 16}, 7, 2), m = drawn({1, 1, 9, 30}, 10, 4);
  for (int64_t k = 0; k < 60; ++k) m.set_number(30 + k, -std::numeric_limits<double>::infinity());
  q.set_number(4 * 16, std::numeric_limits<double>::quiet_NaN());
  q.set_number(5 * 16 + 3, std::numeric_limits<double>::infinity());
  for (const char* rows : {"zero", "nan", "clean"})
    expect_like_reference(
        "graph main(q: f32[b,2,s,16], k: f32[b,2,t,16], v: f32[b,2,t,16], m: f32[b,1,s,t]) {\n y = Attention(q, k, v, m, masked_rows=\"" +
            std::string(rows) + "\")\n return y\n}\n",
        {q, drawn({1, 2, 30, 16}, 8, 2), drawn({1, 2, 30, 16}, 9, 1), m});
}

TEST(Attention, CausalOverBlocksOfKeys) {
  expect_like_reference(
      "graph main(q: f32[b,2,s,16], k: f32[b,2,s,16], v: f32[b,2,s,16]) {\n y = Attention(q, k, v, is_causal=1)\n return y\n}\n",
      {drawn({1, 2, 530, 16}, 4, 2), drawn({1, 2, 530, 16}, 5, 2), drawn({1, 2, 530, 16}, 6, 1)});
}

TEST(Attention, MaskedOverBlocksOfKeys) {
  expect_like_reference(
      "graph main(q: f32[b,2,s,16], k: f32[b,2,t,16], v: f32[b,2,t,16], m: f32[b,1,s,t]) {\n y = Attention(q, k, v, m)\n return y\n}\n",
      {drawn({2, 2, 9, 16}, 7, 2), drawn({2, 2, 600, 16}, 8, 2), drawn({2, 2, 600, 16}, 9, 1), drawn({2, 1, 9, 600}, 10, 4)});
}

TEST(Attention, CapsScoresBelowTheMask) {
  expect_like_reference(
      "graph main(q: f32[b,2,s,16], k: f32[b,2,t,16], v: f32[b,2,t,16], m: f32[b,1,1,t]) {\n y = Attention(q, k, v, m, softcap=1.5)\n return "
      "y\n}\n",
      {drawn({2, 2, 9, 16}, 7, 2), drawn({2, 2, 30, 16}, 8, 2), drawn({2, 2, 30, 16}, 9, 1), drawn({2, 1, 1, 30}, 10, 4)});
}

TEST(Attention, LooksNoFurtherThanItsWindow) {
  for (const char* window :
       {"left_window_size=3", "right_window_size=2", "left_window_size=2, right_window_size=0", "left_window_size=1, is_causal=1"})
    expect_like_reference("graph main(q: f32[b,2,s,16], k: f32[b,2,t,16], v: f32[b,2,t,16]) {\n y = Attention(q, k, v, " +
                              std::string(window) + ")\n return y\n}\n",
                          {drawn({2, 2, 19, 16}, 7, 2), drawn({2, 2, 30, 16}, 8, 2), drawn({2, 2, 30, 16}, 9, 1)});
}

TEST(Attention, TakesHeadsSideBySide) {
  expect_like_reference(
      "graph main(q: f32[b,s,32], k: f32[b,t,16], v: f32[b,t,24]) {\n y = Attention(q, k, v, q_num_heads=4, kv_num_heads=2)\n return y\n}\n",
      {drawn({2, 19, 32}, 7, 2), drawn({2, 30, 16}, 8, 2), drawn({2, 30, 24}, 9, 1)});
}

/// As exporters write a causal mask beside one of keys: what is hidden gets the lowest number added.
constexpr std::string_view kAdded = R"(graph main(q: f32[b,2,s,16], k: f32[b,2,s,16], v: f32[b,2,s,16], keep: bool[b,1,1,s]) {
  const first: i64[1] = [0]
  const second: i64[1] = [1]
  const zero: i64[] = [0]
  const one: i64[] = [1]
  const none: f32[] = [0]
  const low: f32[] = [-3.4028234663852886e38]
  qs = Shape(q, start=2, end=3)
  size = Squeeze(qs)
  i = Range(zero, size, one)
  row = Unsqueeze(i, second)
  column = Unsqueeze(i, first)
  past = LessOrEqual(column, row)
  seen = And(past, keep)
  mask = Where(seen, none, low)
  y = Attention(q, k, v, mask)
  return y
})";

// The first rows of the second batch see nothing but hidden keys, those behind them too: all of them share the weight.
TEST(Attention, HidesKeysAfterTheQueryByAddingTheLowestNumber) {
  for (const int64_t size : {1, 5, 37, 530}) {
    Tensor keep = *Tensor::make(DType::boolean, {2, 1, 1, size});
    for (int64_t i = 0; i < size; ++i) {
      keep.set_integer(i, i % 5 != 3);
      keep.set_integer(size + i, i >= 3);
    }
    expect_like_reference(kAdded, {drawn({2, 2, size, 16}, 7, 2), drawn({2, 2, size, 16}, 8, 2), drawn({2, 2, size, 16}, 9, 1), keep});
  }
}

// Constant masks that positions alone determine, and one that they do not.
TEST(Attention, ReadsConstantMasksAsPositions) {
  for (const char* mask : {"bool[3,3] = [1, 0, 0, 1, 1, 0, 1, 1, 1]", "bool[3,1] = [1, 1, 1]", "bool[3,3] = [1, 1, 1, 1, 1, 1, 1, 1, 1]",
                           "f32[3,3] = [0, 0, -inf, 0, 0, 0, 0, 0, 0]", "f32[3,3] = [0, 0, -1e38, 0, 0, 0, 0, -1e38, 0]",
                           "f32[3,3] = [0, -1e38, -1e37, 0, 0, -1e38, 0, 0, 0]", "bool[3,3] = [0, 0, 0, 1, 0, 0, 1, 1, 0]"})
    expect_like_reference("graph main(q: f32[b,1,3,16], k: f32[b,1,3,16], v: f32[b,1,3,16]) {\n const m: " + std::string(mask) +
                              "\n y = Attention(q, k, v, m)\n return y\n}\n",
                          {drawn({2, 1, 3, 16}, 7, 2), drawn({2, 1, 3, 16}, 8, 2), drawn({2, 1, 3, 16}, 9, 1)});
}

/// A bias by the bucket of the distance between key and query, as T5 has it, beside a mask of keys.
constexpr std::string_view kRelative =
    R"(graph main(q: f32[b,2,s,16], k: f32[b,2,t,16], v: f32[b,2,t,16], table: f32[16,2], keep: bool[b,1,1,t]) {
  const first: i64[1] = [0]
  const second: i64[1] = [1]
  const zero: i64[] = [0]
  const one: i64[] = [1]
  const near: i64[] = [8]
  const last: i64[] = [15]
  const eighth: f32[] = [0.125]
  const steep: f32[] = [2.885]
  const none: f32[] = [0]
  const low: f32[] = [-3.4e38]
  qs = Shape(q, start=2, end=3)
  ks = Shape(k, start=2, end=3)
  queries = Squeeze(qs)
  keys = Squeeze(ks)
  i = Range(zero, queries, one)
  j = Range(zero, keys, one)
  row = Unsqueeze(i, second)
  column = Unsqueeze(j, first)
  apart = Sub(column, row)
  distance = Abs(apart)
  real = Cast(distance, to=1)
  part = Mul(real, eighth)
  grown = Log(part)
  scaled = Mul(grown, steep)
  whole = Cast(scaled, to=7)
  beyond = Add(whole, near)
  far = Min(beyond, last)
  is_near = Less(distance, near)
  bucket = Where(is_near, distance, far)
  bias = Gather(table, bucket)
  turned = Transpose(bias, perm=[2, 0, 1])
  shaped = Unsqueeze(turned, first)
  hidden = Where(keep, none, low)
  mask = Add(shaped, hidden)
  y = Attention(q, k, v, mask)
  return y
})";

Tensor kept(Sizes shape) {
  Tensor t = *Tensor::make(DType::boolean, std::move(shape));
  for (int64_t i = 0; i < t.count(); ++i) t.set_integer(i, i % 3 != 1);
  return t;
}

TEST(Attention, AddsABiasByTheDistanceOfKeyAndQuery) {
  for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{37, 37}, {1, 300}, {270, 1}, {19, 40}})
    expect_like_reference(kRelative, {drawn({2, 2, queries, 16}, 7, 2), drawn({2, 2, keys, 16}, 8, 2), drawn({2, 2, keys, 16}, 9, 1),
                                      drawn({16, 2}, 10, 3), kept({2, 1, 1, keys})});
}

// The place of a bias is computed from data, so that no two scores need share one.
TEST(Attention, LooksABiasUpForEachScore) {
  Tensor places = *Tensor::make(DType::i64, {2, 19});
  for (int64_t i = 0; i < places.count(); ++i) places.set_integer(i, i * 7 % 11);
  expect_like_reference(
      R"(graph main(q: f32[b,2,s,16], k: f32[b,2,s,16], v: f32[b,2,s,16], table: f32[21], place: i64[b,s]) {
    const axis: i64[1] = [2]
    const heads: i64[1] = [1]
    const ten: i64[] = [10]
    row = Unsqueeze(place, axis)
    column = Unsqueeze(place, heads)
    apart = Sub(row, column)
    index = Add(apart, ten)
    bias = Gather(table, index)
    mask = Unsqueeze(bias, heads)
    y = Attention(q, k, v, mask)
    return y
  })",
      {drawn({2, 2, 19, 16}, 7, 2), drawn({2, 2, 19, 16}, 8, 2), drawn({2, 2, 19, 16}, 9, 1), drawn({21}, 10, 3), places});
}

// Behind its end the mask is a number.
TEST(Attention, TakesAPaddedMask) {
  expect_like_reference(
      R"(graph main(q: f32[b,2,s,16], k: f32[b,2,30,16], v: f32[b,2,30,16], m: f32[b,1,s,25]) {
    const pads: i64[8] = [0, 0, 0, 3, 0, 0, 0, 2]
    const low: f32[] = [-5]
    mask = Pad(m, pads, low)
    y = Attention(q, k, v, mask)
    return y
  })",
      {drawn({2, 2, 9, 16}, 7, 2), drawn({2, 2, 30, 16}, 8, 2), drawn({2, 2, 30, 16}, 9, 1), drawn({2, 1, 9, 25}, 10, 4)});
}

}  // namespace
}  // namespace tenon::compiler::testing
