// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace tenon {
namespace {

TEST(Philox, GivesTheKnownAnswersOfItsAuthors) {
  // Random123's kat_vectors, philox4x32 10.
  EXPECT_EQ(philox(0, {0, 0, 0, 0}), (RandomBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox(~uint64_t{0}, {~0u, ~0u, ~0u, ~0u}), (RandomBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (RandomBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomScope, PutsElementStepAndStreamIntoTheCounter) {
  const RandomScope at{.seed = 7, .path = 0, .step = 0x0000a1b2c3d4e5f6};
  EXPECT_EQ(at.block(9, 0x0000123456789abc), philox(7, {0x56789abc, 0xa1b21234, 0xc3d4e5f6, 9}));
}

TEST(RandomScope, GivesEveryIterationOfNestedLoopsAnotherBlock) {
  std::set<RandomBlock> seen;
  const RandomScope run{.seed = 1};
  seen.insert(run.block(0, 0));
  for (uint64_t i = 0; i < 30; ++i) {
    const RandomScope outer = run.in_iteration(i);
    seen.insert(outer.block(0, 0));
    for (uint64_t j = 0; j < 30; ++j) {
      const RandomScope inner = outer.in_iteration(j);
      seen.insert(inner.block(0, 0));
      seen.insert(inner.in_iteration(0).block(0, 0));
    }
  }
  EXPECT_EQ(seen.size(), 1u + 30 + 2 * 30 * 30);
}

TEST(RandomNumbers, HaveTheMomentsOfTheirDistributions) {
  constexpr int kCount = 100'000;
  const RandomScope run{.seed = 3};
  double uniform = 0, normal = 0, square = 0;
  for (uint64_t k = 0; k < kCount; ++k) {
    const double u = uniform_of(run.block(0, k)), n = normal_of(run.block(1, k));
    ASSERT_TRUE(u >= 0 && u < 1 && std::isfinite(n));
    uniform += u;
    normal += n;
    square += n * n;
  }
  EXPECT_NEAR(uniform / kCount, 0.5, 0.005);
  EXPECT_NEAR(normal / kCount, 0, 0.02);
  EXPECT_NEAR(square / kCount, 1, 0.03);
}

TEST(FreshSeed, DiffersFromCallToCall) { EXPECT_NE(fresh_seed(), fresh_seed()); }

}  // namespace
}  // namespace tenon
