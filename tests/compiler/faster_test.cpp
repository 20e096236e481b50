// SPDX-License-Identifier: Apache-2.0
// Decisions by measured times.
#include "compiler/measure/faster.h"

#include <gtest/gtest.h>

#include <vector>

namespace tenon::compiler {
namespace {

using Times = std::vector<std::optional<double>>;

TEST(Faster, WhatMayBeNoiseTakesNoPlace) {
  EXPECT_TRUE(is_faster(94.9, 100));
  EXPECT_FALSE(is_faster(95, 100));
  EXPECT_FALSE(is_faster(99, 100));
  EXPECT_FALSE(is_faster(100, 100));
}

TEST(Faster, WhatDoesNotRunIsNoCandidateAndHoldsNoPlace) {
  EXPECT_FALSE(is_faster(std::nullopt, 100));
  EXPECT_FALSE(is_faster(std::nullopt, std::nullopt));
  EXPECT_TRUE(is_faster(1e9, std::nullopt));
}

TEST(Faster, TheFastestOfAllTakesThePlaceOfTheFirst) {
  EXPECT_EQ(index_of_fastest(Times{100, 90, 50, 70}), 2u);
  EXPECT_EQ(index_of_fastest(Times{100, 96, 97}), 0u);
  EXPECT_EQ(index_of_fastest(Times{100, std::nullopt, 60}), 2u);
  EXPECT_EQ(index_of_fastest(Times{std::nullopt, 300, 200}), 2u);
  EXPECT_EQ(index_of_fastest(Times{std::nullopt, std::nullopt, 200}), 2u);
}

TEST(Faster, FirstIsChosenWhereNoneRuns) {
  EXPECT_EQ(index_of_fastest(Times{}), 0u);
  EXPECT_EQ(index_of_fastest(Times{100}), 0u);
  EXPECT_EQ(index_of_fastest(Times{std::nullopt, std::nullopt}), 0u);
}

}  // namespace
}  // namespace tenon::compiler
