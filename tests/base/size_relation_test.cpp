// SPDX-License-Identifier: Apache-2.0
#include "base/size_relation.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(SizeRelation, HoldsForNumbersAsStated) {
  for (int64_t a = 0; a < 4; ++a)
    for (int64_t b = 0; b < 4; ++b) {
      EXPECT_EQ(holds(SizeRelation::equal, a, b), a == b);
      EXPECT_EQ(holds(SizeRelation::broadcast, a, b), a == b || a == 1 || b == 1);
      EXPECT_EQ(holds(SizeRelation::at_least, a, b), a >= b);
      EXPECT_EQ(holds(SizeRelation::spreads, a, b), a == b || a == 1);
      EXPECT_FALSE(holds(SizeRelation{9}, a, b));
    }
}

TEST(SizeRelation, NamesReadBack) {
  for (const SizeRelation relation : {SizeRelation::equal, SizeRelation::broadcast, SizeRelation::at_least, SizeRelation::spreads})
    EXPECT_EQ(size_relation_named(name_of(relation)), relation);
  EXPECT_EQ(size_relation_named("less"), std::nullopt);
  EXPECT_EQ(size_relation_named(""), std::nullopt);
}

TEST(SizeRelation, TextNamesBothSizes) {
  EXPECT_EQ(text_of(SizeRelation::equal, "n", "2*m"), "n == 2*m");
  EXPECT_EQ(text_of(SizeRelation::broadcast, "n", "m"), "n == m, or one of them is 1");
  EXPECT_EQ(text_of(SizeRelation::at_least, "n", "3"), "n >= 3");
  EXPECT_EQ(text_of(SizeRelation::spreads, "n", "m"), "n == m, or n is 1");
}

}  // namespace
}  // namespace tenon
