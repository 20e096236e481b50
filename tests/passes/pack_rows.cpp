// SPDX-License-Identifier: Apache-2.0
// Padding removal, where no node reads rows of padding: which graphs change, and that their results stay the same for every mask.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ir/text.h"
#include "ir/verify.h"
#include "ops/core/op.h"
#include "ops/reference/evaluate.h"
#include "passes/pipeline.h"

namespace tenon::tests {
namespace {

/// One layer over [batch, length, 4] in two heads of two: products, attention and a norm.
std::string layer(const std::string& in, const std::string& out, std::string_view mask) {
  return fmt::format(
      "  p{1} = MatMul({0}, w) q{1} = Reshape(p{1}, heads) h{1} = Transpose(q{1}, perm=[0,2,1,3])\n"
      "  i{1} = MatMul({0}, wk) j{1} = Reshape(i{1}, heads) k{1} = Transpose(j{1}, perm=[0,2,1,3])\n"
      "  a{1} = Attention(h{1}, k{1}, k{1}, {2}) t{1} = Transpose(a{1}, perm=[0,2,1,3]) r{1} = Reshape(t{1}, row)\n"
      "  s{1} = Add(r{1}, {0}) {1} = LayerNormalization(s{1}, scale)\n",
      in, out, mask);
}

constexpr std::string_view kAdded = "  m = Where(seen, zero, lowest)\n", kChosen = "  m = Identity(seen)\n";

std::string encoder(std::string_view mask, std::string_view end) {
  return "graph main(ids: i64[b,s], visible: i64[b,s]) {\n"
         "  const table: f32[5,4] = [1,2,3,4, 4,3,-2,1, 0,1,-1,2, 3,-3,1,0, 2,0,1,1]\n"
         "  const places: f32[1,6,4] = [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1, 1,1,0,0, 0,1,1,0]\n"
         "  const w: f32[4,4] = [1,0.5,0,-1, 0,1,0.25,0, -0.5,0,1,0, 0,0.75,0,1]\n"
         "  const wk: f32[4,4] = [0,1,0.5,0, 1,0,0,-0.5, 0.25,0,1,1, 0,-1,0,0.5]\n"
         "  const scale: f32[4] = [1,0.5,2,1]\n  const heads: i64[4] = [0,0,2,2]\n  const row: i64[3] = [0,0,4]\n"
         "  const axes: i64[2] = [1,2]\n  const last: i64[1] = [-1]\n  const one: i64[1] = [1]\n  const first: i64[1] = [0]\n"
         "  const start: i64[] = 0\n  const back: i64[] = -1\n  const zero: f32[] = 0\n  const lowest: f32[] = -3.4028235e38\n"
         "  size = Shape(ids, start=1, end=2) here = Slice(places, first, size, one)\n"
         "  e = Gather(table, ids) x = Add(e, here)\n  c = Cast(visible, to=9) seen = Unsqueeze(c, axes)\n" +
         std::string(mask) + layer("x", "y", "m") + layer("y", "z", "m") + std::string(end) + "}\n";
}

constexpr std::string_view kFirstToken = "  v = Gather(z, start, axis=1)\n  return v\n";
constexpr std::string_view kLastPlace = "  v = Gather(z, back, axis=1)\n  return v\n";
constexpr std::string_view kMean =
    "  f = Cast(visible, to=1) u = Unsqueeze(f, last) k = Mul(z, u) sum = ReduceSum(k, one, keepdims=0)\n"
    "  count = ReduceSum(f, one, keepdims=1) v = Div(sum, count)\n  return v\n";

std::unique_ptr<ir::Graph> optimised(std::string_view text, bool packs) {
  auto graph = ir::parse(text, ops::table());
  if (!graph) ADD_FAILURE() << graph.error().text();
  if (!graph) return std::make_unique<ir::Graph>(ops::table());
  passes::Options options;
  options.level = 3;
  options.verify = true;
  if (packs) options.packs = [](const ir::NodeView&) { return true; };
  const auto done = passes::optimise(**graph, options);
  if (!done) ADD_FAILURE() << done.error().text();
  return std::move(*graph);
}

int count_of(const ir::Graph& graph, std::string_view op) {
  int count = 0;
  for (ir::NodeId n : graph.nodes()) count += graph.node(n).op->name == op;
  return count;
}

/// Masks of three sequences of six places: begun at the start, at the end, with holes; one sequence without any place, one with all.
const std::vector<int64_t> kMasks[] = {{1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0},
                                       {0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1},
                                       {1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0},
                                       {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0},
                                       {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

void expect_same(const ir::Graph& packed, const ir::Graph& padded) {
  const Tensor ids = Tensor::of_i64({3, 6}, std::vector<int64_t>{0, 1, 2, 3, 4, 0, 1, 1, 4, 2, 0, 3, 2, 4, 3, 0, 1, 2});
  for (const std::vector<int64_t>& mask : kMasks) {
    const Tensor inputs[] = {ids, Tensor::of_i64({3, 6}, mask)};
    const auto got = ops::evaluate(packed, inputs), want = ops::evaluate(padded, inputs);
    ASSERT_TRUE(got) << got.error().text();
    ASSERT_TRUE(want) << want.error().text();
    ASSERT_EQ((*got)[0].shape(), (*want)[0].shape());
    for (int64_t i = 0; i < (*want)[0].count(); ++i) {
      const double x = (*want)[0].number(i), y = (*got)[0].number(i);
      EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y)))
          << fmt::format("mask {}: element {} is {} instead of {}", fmt::join(mask, ""), i, y, x);
    }
  }
}

TEST(PackRows, OmitsUnusedPadding) {
  for (const std::string_view mask : {kAdded, kChosen})
    for (const std::string_view end : {kFirstToken, kLastPlace, kMean}) {
      SCOPED_TRACE(encoder(mask, end));
      const auto packed = optimised(encoder(mask, end), true), padded = optimised(encoder(mask, end), false);
      EXPECT_EQ(count_of(*packed, "RaggedAttention"), 2);
      EXPECT_EQ(count_of(*packed, "PackedRows"), 1);
      EXPECT_EQ(count_of(*packed, "Attention"), 0);
      EXPECT_EQ(count_of(*padded, "Attention"), 2);
      expect_same(*packed, *padded);
    }
}

void expect_unchanged(const std::string& text) {
  SCOPED_TRACE(text);
  EXPECT_EQ(ir::print(*optimised(text, true)), ir::print(*optimised(text, false)));
}

TEST(PackRows, LeavesGraphsAloneWhoseHiddenRowsAreRead) {
  expect_unchanged(encoder(kAdded, "  return z\n"));
  expect_unchanged(encoder(kAdded, "  v = Gather(z, start, axis=1)\n  return v, z\n"));
  expect_unchanged(encoder(kAdded, "  v = ReduceMax(z, one)\n  return v\n"));
  expect_unchanged(encoder(kAdded, "  k = Mul(z, x) v = ReduceSum(k, one)\n  return v\n"));
}

TEST(PackRows, LeavesMasksAloneThatDifferFromQueryToQuery) {
  expect_unchanged(encoder("  o = Where(seen, zero, lowest) t = Transpose(o, perm=[0,1,3,2]) m = Add(o, t)\n", kFirstToken));
}

TEST(PackRows, NeedsNothingOfHiddenRows) {
  const auto packed = optimised(encoder(kChosen, kMean), true);
  const Tensor visible = Tensor::of_i64({1, 3}, std::vector<int64_t>{1, 1, 0});
  const Tensor some[] = {Tensor::of_i64({1, 3}, std::vector<int64_t>{1, 2, 0}), visible};
  const Tensor others[] = {Tensor::of_i64({1, 3}, std::vector<int64_t>{1, 2, 4}), visible};
  const auto a = ops::evaluate(*packed, some), b = ops::evaluate(*packed, others);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(numbers_of((*a)[0]), numbers_of((*b)[0]));
}

}  // namespace
}  // namespace tenon::tests
