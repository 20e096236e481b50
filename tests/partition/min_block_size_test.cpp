// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/min_block_size.h"

#include <gtest/gtest.h>

#include "partition/build_problem.h"
#include "partition/cut/fewest.h"
#include "partition/cut/fill.h"
#include "random_problems.h"

namespace tenon::partition {
namespace {

double share_of(const Problem& before, const SizedCut& sized) {
  double all = 0;
  for (uint32_t n = 0; n < before.size(); ++n) all += before.is_accelerated(n);
  return (all - static_cast<double>(sized.dropped.size())) / all;
}

TEST(LeastSize, NoAcceleratedSegmentIsSmallerAndNothingElseChanges) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Draw draw(seed);
    const auto targets = static_cast<uint16_t>(2 + draw() % 3);
    const Problem before = any_targets(draw, seed % 2 ? Kind::window : Kind::sparse, 1 + draw() % 120, targets);
    Problem problem = before;
    const auto least = static_cast<uint32_t>(2 + draw() % 6);
    const SizedCut sized = cut_of_size(problem, least);
    ASSERT_TRUE(is_legal(problem, sized.cut)) << seed;
    ASSERT_EQ(std::ranges::count(large_enough(problem, sized.cut, least), false), 0);
    for (uint32_t n = 0; n < problem.size(); ++n) {
      const bool dropped = std::ranges::binary_search(sized.dropped, n);
      ASSERT_EQ(problem.nodes[n].target, dropped ? problem.fallback : before.nodes[n].target);
    }
  }
}

TEST(LeastSize, KeepsMostOfWhatIsSupported) {
  double share = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    Problem problem = supported(draw, Kind::window, 200, 0.65);
    const Problem before = problem;
    share += share_of(before, cut_of_size(problem, 5)) / 60;
  }
  EXPECT_GE(share, 0.95);
}

TEST(LeastSize, BoundCountsNodesThatFellBack) {
  const backend::Backends none;
  int dropped = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Draw draw(seed);
    const auto targets = static_cast<uint16_t>(2 + draw() % 2);
    Problem problem = any_targets(draw, Kind::window, 1 + draw() % 120, targets), walked = problem;
    const auto least = static_cast<uint32_t>(2 + draw() % 6);
    const Roles roles(none, targets);
    Constraints constraints;
    constraints.min_block_size = least;
    const CutSolution settled = *solve_cut(problem, roles, constraints);
    ASSERT_LE(settled.lower_bound, settled.sized.cut.size()) << seed;
    ASSERT_EQ(settled.lower_bound, fewest_segments(problem).lower_bound) << seed;
    dropped += !settled.sized.dropped.empty();
    if (targets > 2) continue;
    constraints.segmenter = Segmenter::walk;
    const CutSolution by_walk = *solve_cut(walked, roles, constraints);
    ASSERT_LE(by_walk.lower_bound, by_walk.sized.cut.size()) << seed;
  }
  EXPECT_GT(dropped, 50);
}

}  // namespace
}  // namespace tenon::partition
