// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/walk.h"

#include <gtest/gtest.h>

#include "random_problems.h"

namespace tenon::partition {
namespace {

using Lists = std::vector<std::vector<uint32_t>>;

Lists lists_of(const Cut& cut) {
  Lists out(cut.size());
  for (uint32_t n = 0; n < cut.segment_of.size(); ++n) out[cut.segment_of[n]].push_back(n);
  return out;
}

/// predecessors: of each node; fallback: who is not accelerated.
Problem problem_of(const std::vector<std::vector<uint32_t>>& predecessors, const std::vector<uint32_t>& fallback) {
  Problem problem(2, 1);
  for (uint32_t n = 0; n < predecessors.size(); ++n) {
    const bool falls = std::ranges::find(fallback, n) != fallback.end();
    problem.add({.target = static_cast<uint16_t>(falls), .fallback_target = 1, .key = n}, predecessors[n]);
  }
  return problem;
}

Lists walked(const std::vector<std::vector<uint32_t>>& predecessors, const std::vector<uint32_t>& fallback, uint32_t least = 1) {
  Problem problem = problem_of(predecessors, fallback);
  return lists_of(walk(problem, least).cut);
}
Lists leveled(const std::vector<std::vector<uint32_t>>& predecessors, const std::vector<uint32_t>& fallback, uint32_t least = 1) {
  Problem problem = problem_of(predecessors, fallback);
  return lists_of(cut_of_size(problem, least).cut);
}

// conv, relu, conv, log sigmoid, conv
const Lists kSequential = {{}, {0}, {1}, {2}, {3}};
// conv; conv(0); log sigmoid(0); conv(2); relu(1); add(3, 4); max pool
const Lists kBranched = {{}, {0}, {0}, {2}, {1}, {3, 4}, {5}};

TEST(TwoSegmentWalk, SequentialModel) {
  EXPECT_EQ(walked(kSequential, {3}), (Lists{{0, 1, 2}, {3}, {4}}));
  EXPECT_EQ(walked(kSequential, {3}, 3), (Lists{{0, 1, 2}, {3, 4}}));
  EXPECT_EQ(walked(kSequential, {1, 3}), (Lists{{0}, {1}, {2}, {3}, {4}}));
}

TEST(TwoSegmentWalk, BranchedModel) {
  EXPECT_EQ(walked(kBranched, {2}), (Lists{{0, 1}, {2}, {3, 4, 5, 6}}));
  EXPECT_EQ(walked(kBranched, {2, 4}), (Lists{{0, 1}, {2, 4}, {3, 5, 6}}));
}

TEST(Levels, GiveTheSameNumberOfSegments) {
  EXPECT_EQ(leveled(kSequential, {3}), walked(kSequential, {3}));
  EXPECT_EQ(leveled(kSequential, {3}, 3), walked(kSequential, {3}, 3));
  EXPECT_EQ(leveled(kBranched, {2}), (Lists{{0, 1, 4}, {2}, {3, 5, 6}}));
}

TEST(TwoSegmentWalk, ASegmentWaitsOnlyForItsOperands) {  // add, lgamma x, mul, lgamma y, div, lgamma div, list, cat
  const Lists predecessors = {{}, {}, {0}, {}, {2}, {4}, {1, 3, 5}, {6}};
  EXPECT_EQ(walked(predecessors, {1, 3, 5}), (Lists{{0, 2, 4}, {1, 3, 5}, {6, 7}}));
}

TEST(TwoSegmentWalk, IsNotTheFewest) {  // e needs d, which joins the open segment of c although an earlier one could hold it
  const Lists predecessors = {{}, {0}, {1}, {}, {3}};
  EXPECT_EQ(walked(predecessors, {1, 4}).size(), 4);
  EXPECT_EQ(leveled(predecessors, {1, 4}).size(), 3);
}

TEST(TwoSegmentWalk, ConditionalIsItsOwnSegment) {
  Problem problem = problem_of({{}, {0}, {1}}, {1, 2});
  problem.nodes[1].has_bodies = true;
  EXPECT_EQ(lists_of(walk(problem, 1).cut), (Lists{{0}, {1}, {2}}));
}

TEST(TwoSegmentWalk, IsLegalAndNeverBelowTheFewest) {
  double walked = 0, least = 0;
  for (uint64_t seed = 0; seed < 60; ++seed)
    for (Kind kind : {Kind::sparse, Kind::window}) {
      Draw draw(seed);
      Problem problem = supported(draw, kind, 200, 0.8);
      const Cut best = fewest_segments(problem), cut = walk(problem, 1).cut;
      ASSERT_TRUE(is_legal(problem, cut));
      ASSERT_LE(best.size(), cut.size());
      ASSERT_LE(cut.lower_bound, best.size());
      if (kind == Kind::window) continue;
      walked += std::ranges::count(cut.targets, 0);
      least += std::ranges::count(best.targets, 0);
    }
  EXPECT_LE(least, 0.55 * walked);
}

}  // namespace
}  // namespace tenon::partition
