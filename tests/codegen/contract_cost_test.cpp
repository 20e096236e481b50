// SPDX-License-Identifier: Apache-2.0
// How contractions are cut where nobody says anything: the tile that fits the rows and lanes, and blocks of a depth that the caches do not
// hold.
#include <gtest/gtest.h>

#include "codegen/cost/contract_cost.h"
#include "codegen/lower/depth_blocks.h"
#include "codegen/passes/pipeline.h"
#include "ir/text.h"
#include "ops/core/op.h"

namespace tenon::codegen {
namespace {

/// Of the product of [rows, depth] and a [depth, lanes].
ContractTactic tactic(std::string_view rows, int64_t depth, int64_t lanes, std::string_view target, std::string_view type = "f32") {
  const std::string text =
      fmt::format("graph main(x: {0}[{1},{2}], w: {0}[{2},{3}]) {{ y = MatMul(x, w) return y }}", type, rows, depth, lanes);
  auto parsed = ir::parse(text, ops::table());
  EXPECT_TRUE(parsed) << parsed.error().text();
  const auto planned = plan(**parsed, **target_named("x86_avx512"), {});
  EXPECT_TRUE(planned);
  for (const Group& g : planned->groups)
    if (g.kind() == GroupKind::contract) return contract_tactic(g, **target_named(target));
  ADD_FAILURE() << "no contraction";
  return {};
}

/// "tile split depth"
std::string cut(int64_t rows, int64_t depth, int64_t lanes, std::string_view target = "x86_avx2", std::string_view type = "f32") {
  const ContractTactic t = tactic(std::to_string(rows), depth, lanes, target, type);
  return fmt::format("{}x{} {} {}", t.tile.rows, t.tile.vectors, t.split, t.depth);
}

TEST(ContractTactic, TakesTheTileThatFits) {
  EXPECT_EQ(cut(128, 768, 768), "6x2 11 0");
  EXPECT_EQ(cut(7, 768, 768), "4x3 16 0") << "4 and 3 rows of 2 registers would wait for their sums";
  EXPECT_EQ(cut(128, 64, 24), "4x3 16 0") << "16 lanes would compute 8 of 32 in vain";
  EXPECT_EQ(cut(128, 768, 768, "x86_avx512"), "14x2 4 0");
  EXPECT_EQ(cut(96, 64, 16, "x86_avx512"), "24x1 2 0");
}

/// Pairs of bf16, whose operands take half of the caches.
TEST(ContractTactic, HandlesShortProducts) {
  EXPECT_EQ(cut(128, 16384, 768, "x86_avx512_bf16", "bf16"), "14x2 4 2978");
  EXPECT_EQ(cut(128, 8192, 768, "x86_avx512", "bf16"), "14x2 4 1489");
  EXPECT_EQ(cut(96, 64, 16, "x86_avx512_bf16", "bf16"), "14x2 4 0") << "24 rows of one register wait for their broadcasts";
}

TEST(ContractTactic, CutsADepthThatTheCachesDoNotHold) {
  EXPECT_EQ(cut(128, 3072, 768), "6x2 11 512");
  EXPECT_EQ(cut(128, 3072, 768, "x86_avx512"), "14x2 4 0") << "a panel of 384 KiB stays";
  EXPECT_EQ(cut(128, 8192, 768, "x86_avx512"), "14x2 4 1489");
}

/// Whoever computes all panels of its rows reads all weights.
TEST(ContractTactic, KeepsRowsTogetherWhereTheyOutweighTheWeights) {
  EXPECT_EQ(tactic("n", 768, 768, "x86_avx512").by_rows, 384);
  EXPECT_EQ(tactic("n", 96, 24, "x86_avx512").by_rows, 132) << "fewer rows give unequal shares";
}

TEST(ContractTactic, KeepsRowsOfABatchTogetherWhereItHasWeightsOfItsOwn) {
  const auto of = [](std::string_view text) {
    const auto parsed = ir::parse(text, ops::table());
    return contract_tactic(plan(**parsed, **target_named("x86_avx512"), {})->groups.at(0), **target_named("x86_avx512"));
  };
  const ContractTactic weights =
      of("graph main(x: f32[2,n,2]) { const w: f32[2,2,2] = [1, 2, 3, 4, 5, 6, 7, 8] y = MatMul(x, w) return y }");
  EXPECT_EQ(weights.by_rows, 2 * weights.tile.rows);
  EXPECT_EQ(of("graph main(x: f32[2,n,2], w: f32[2,2,2]) { y = MatMul(x, w) return y }").by_rows, 0);
}

TEST(ContractTactic, ComputesTheReachOfTiles) {
  const Target &avx2 = **target_named("x86_avx2"), &avx512 = **target_named("x86_avx512");
  EXPECT_NEAR(tile_share(6, 2, avx2), 0.995, 0.05);
  EXPECT_NEAR(tile_share(2, 4, avx2), 0.887, 0.05);
  EXPECT_NEAR(tile_share(1, 8, avx2), 0.492, 0.06);
  EXPECT_NEAR(tile_share(14, 2, avx512), 0.998, 0.05);
  EXPECT_NEAR(tile_share(2, 8, avx512), 0.933, 0.06);
}

JointAxis axis(Dim extent) { return {.axes = {0}, .extent = extent}; }

TEST(ContractTactic, TakesSeveralLinesWhereOneDoesNotFillATile) {
  EXPECT_EQ(lines_of({14, 2}, {axis(7), axis(7)}), 2);
  EXPECT_EQ(lines_of({24, 1}, {axis(7), axis(7)}), 3);
  EXPECT_EQ(lines_of({24, 1}, {axis(2), axis(7)}), 2);
  EXPECT_EQ(lines_of({14, 2}, {axis(14), axis(14)}), 1);
  EXPECT_EQ(lines_of({14, 2}, {axis(9), axis(9)}), 1);
  EXPECT_EQ(lines_of({14, 2}, {axis(7)}), 1);
}

std::string blocks(const std::vector<JointAxis>& depth, int64_t products) {
  const DepthBlocks b = depth_blocks(depth, products);
  return b.whole() ? "whole" : fmt::format("{} of {}", b.outer, b.inner);
}

TEST(DepthBlocks, AreWholeAxesOrEvenPartsOfTheLast) {
  EXPECT_EQ(blocks({axis(768)}, 0), "whole");
  EXPECT_EQ(blocks({axis(768)}, 512), "whole") << "half as much again is one block";
  EXPECT_EQ(blocks({axis(3072)}, 512), "0 of 512");
  EXPECT_EQ(blocks({axis(1000)}, 512), "0 of 504") << "two parts, of whole groups of eight";
  EXPECT_EQ(blocks({axis(3), axis(3), axis(128)}, 512), "1 of 0") << "3 x 128 products a row of the window";
  EXPECT_EQ(blocks({axis(3), axis(3), axis(64)}, 512), "whole");
  EXPECT_EQ(blocks({axis(3), axis(3), axis(2048)}, 512), "2 of 512");
}

/// What a iteration of a loop reads again it finds in the second-level cache, where it fits.
TEST(ContractTactic, PrefetchesNoWeightsThatStayInTheCache) {
  const Target& target = **target_named("x86_avx512");
  Group group;
  group.set_kind(GroupKind::contract);
  const auto prefetch = [&](std::optional<int64_t> bytes) {
    group.as<ContractGroup>().constant_bytes_per_iteration = bytes;
    return contract_tactic(group, target).prefetch;
  };
  EXPECT_GT(prefetch(std::nullopt), 0);
  EXPECT_GT(prefetch(target.caches[1] + 1), 0);
  EXPECT_EQ(prefetch(target.caches[1]), 0);
}

}  // namespace
}  // namespace tenon::codegen
