// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/fewest.h"

#include <gtest/gtest.h>

#include <map>

#include "partition/build_problem.h"
#include "random_problems.h"

namespace tenon::partition {
namespace {

/// The fewest segments of any order at all: every set of nodes that may have run, and the target that ran last.
uint32_t exhaustive(const Problem& problem) {
  const uint32_t all = (1U << problem.size()) - 1;
  std::vector<uint32_t> predecessors(problem.nodes.size());
  for (uint32_t n = 0; n < problem.size(); ++n)
    for (uint32_t before : problem.predecessors(n)) predecessors[n] |= 1U << before;
  std::vector<std::vector<uint32_t>> best(problem.targets, std::vector<uint32_t>(all + size_t{1}, UINT32_MAX));
  for (uint16_t t = 0; t < problem.targets; ++t) best[t][0] = 1;
  for (uint32_t done = 0; done < all; ++done)
    for (uint16_t last = 0; last < problem.targets; ++last)
      if (const uint32_t segments = best[last][done]; segments != UINT32_MAX)
        for (uint32_t n = 0; n < problem.size(); ++n) {
          if (done >> n & 1 || (predecessors[n] & ~done) != 0) continue;
          const uint16_t t = problem.nodes[n].target;
          uint32_t& to = best[t][done | 1U << n];
          to = std::min(to, segments + (t != last));
        }
  uint32_t least = UINT32_MAX;
  for (uint16_t t = 0; t < problem.targets; ++t) least = std::min(least, best[t][all]);
  return least;
}

TEST(Fewest, EqualsAnExhaustiveSearch) {
  Draw draw(1);
  for (int k = 0; k < 10'000; ++k) {
    const uint16_t targets = k % 2 ? 2 : 3;
    const Problem problem = any_targets(draw, k % 4 < 2 ? Kind::sparse : Kind::window, 1 + draw() % 12, targets);
    const Cut cut = fewest_segments(problem);
    ASSERT_TRUE(is_legal(problem, cut)) << k;
    ASSERT_TRUE(cut.proved()) << k;
    ASSERT_EQ(cut.size(), exhaustive(problem)) << k;
  }
}

TEST(Fewest, DoesNotDependOnTheOrderOfTheNodes) {
  Draw draw(2);
  for (uint16_t targets : {2, 3, 4})
    for (Kind kind : {Kind::sparse, Kind::window}) {
      const Problem problem = any_targets(draw, kind, 60, targets);
      const auto plan = by_key(problem, fewest_segments(problem));
      for (int k = 0; k < 100; ++k) {
        const Problem other = reordered(draw, problem);
        ASSERT_EQ(by_key(other, fewest_segments(other)), plan);
      }
    }
}

/// Any ready node next, of the target of the one before where there is one: how targets in a list of priorities are often cut.
uint32_t hierarchical(const Problem& problem) {
  const Successors successors(problem);
  std::vector<size_t> waits(problem.nodes.size());
  std::vector<uint32_t> ready;
  for (uint32_t n = 0; n < problem.size(); ++n)
    if ((waits[n] = problem.predecessors(n).size()) == 0) ready.push_back(n);
  uint32_t segments = 0, last = UINT32_MAX;
  while (!ready.empty()) {
    const uint32_t n = ready.front();
    ready.erase(ready.begin());
    segments += problem.nodes[n].target != last;
    last = problem.nodes[n].target;
    for (uint32_t f : successors[n])
      if (--waits[f] == 0) ready.push_back(f);
  }
  return segments;
}

TEST(Fewest, IsProvedForMostGraphsOf200NodesAndThreeOrFourTargets) {
  int proved = 0, all = 0;
  for (uint16_t targets : {3, 4})
    for (Kind kind : {Kind::sparse, Kind::window})
      for (uint64_t seed = 0; seed < 40; ++seed, ++all) {
        Draw draw(seed);
        const Problem problem = any_targets(draw, kind, 200, targets);
        const Cut cut = fewest_segments(problem);
        ASSERT_TRUE(is_legal(problem, cut));
        EXPECT_LE(cut.size(), hierarchical(problem));
        EXPECT_LE(cut.lower_bound, cut.size());
        proved += cut.proved();
      }
  EXPECT_GE(proved, all * 95 / 100);
  RecordProperty("proved", proved);
}

TEST(Fewest, GreedyCutLooksAheadBeyondTheBudget) {
  Draw draw(3);
  const Problem problem = any_targets(draw, Kind::window, 300, 4);
  const Cut looked = fewest_segments(problem, 0), searched = fewest_segments(problem);
  EXPECT_TRUE(is_legal(problem, looked));
  EXPECT_LT(looked.lower_bound, looked.size());
  EXPECT_LE(looked.lower_bound, searched.size());
  EXPECT_GE(looked.size(), searched.size());
}

/// Seeds of window graphs of 800 nodes and three targets that a short search does not settle.
TEST(Fewest, IsSearchedAgainWithALargerBudget) {
  const backend::Backends none;
  const Roles roles(none, 3);
  for (uint64_t seed : {0, 1, 4, 6}) {
    Draw draw(seed);
    Problem problem = any_targets(draw, Kind::window, 800, 3);
    const CutSolution once = *solve_cut(problem, roles, {}), again = *solve_cut(problem, roles, {}, nullptr, SearchBudget::extended);
    EXPECT_GT(once.stopped_after_visits, kSearchBudget);
    EXPECT_EQ(again.stopped_after_visits, 0u);
    EXPECT_TRUE(again.sized.cut.proved());
    EXPECT_LT(again.sized.cut.size(), once.sized.cut.size());
    EXPECT_GT(again.lower_bound, once.lower_bound);
  }
}

}  // namespace
}  // namespace tenon::partition
