// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "random_problems.h"

namespace tenon::partition {
namespace {

double exhaustive(const Costs& costs) {
  std::vector<uint16_t> assigned(costs.nodes());
  double least = Costs::kUnsupported;
  while (true) {
    least = std::min(least, cost_of(costs, assigned));
    uint32_t n = 0;
    while (n < costs.nodes() && ++assigned[n] == costs.targets()) assigned[n++] = 0;
    if (n == costs.nodes()) return least;
  }
}

TEST(Cheapest, TwoTargetsAreExact) {
  Draw draw(5);
  for (int k = 0; k < 300; ++k) {
    const Costs costs = random_costs(draw, 2, 1 + draw() % 14, unit(draw) * 2);
    const Assignment found = cheapest(costs);
    ASSERT_NEAR(found.cost_ns, exhaustive(costs), 1e-2) << k;
    ASSERT_NEAR(found.cost_ns, cost_of(costs, found.targets), 1e-9);
  }
}

TEST(Cheapest, MoreTargetsAreNearAndTheBoundHolds) {
  Draw draw(6);
  double found = 0, best = 0;
  for (int k = 0; k < 200; ++k) {
    const Costs costs = random_costs(draw, 3, 1 + draw() % 9, unit(draw) * 2);
    const Assignment a = cheapest(costs);
    const double least = exhaustive(costs);
    ASSERT_GE(a.cost_ns, least - 1e-2);
    ASSERT_LE(a.lower_bound_ns, least + 1e-2);
    found += a.cost_ns;
    best += least;
  }
  EXPECT_LE(found, 1.02 * best);
}

TEST(Cheapest, InputsAreAtHomeOnTheLastTarget) {
  Costs costs(2, 1);
  costs.run(0, 0) = 1;
  costs.run(0, 1) = 5;
  costs.values.push_back({.producer = Costs::kGraphInput, .readers = {0}, .is_output = false, .bytes = 3});
  costs.link(1, 0) = {0, 1};
  EXPECT_EQ(cheapest(costs).targets[0], 0);
  costs.link(1, 0) = {2, 1};
  EXPECT_EQ(cheapest(costs).targets[0], 1);
}

TEST(Cheapest, PriorityOrderIsDearerWhereTransfersAre) {
  double ours = 0, priority = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const Costs costs = random_costs(draw, 2, 150, 2);
    ours += cheapest(costs).cost_ns;
    std::vector<uint16_t> first(costs.nodes());
    for (uint32_t n = 0; n < costs.nodes(); ++n) first[n] = costs.run(n, 0) < Costs::kUnsupported ? 0 : 1;
    priority += cost_of(costs, first);
  }
  EXPECT_GE(priority, 1.15 * ours);
}

}  // namespace
}  // namespace tenon::partition
