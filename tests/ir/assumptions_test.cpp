// SPDX-License-Identifier: Apache-2.0
#include "ir/assumptions.h"

#include <gtest/gtest.h>

namespace tenon::ir {
namespace {

TEST(Assumptions, OfNumbersAreSettledAsTheRuntimeChecksThem) {
  for (const auto kind : {SizeRelation::equal, SizeRelation::broadcast, SizeRelation::at_least, SizeRelation::spreads})
    for (int64_t a = 0; a < 4; ++a)
      for (int64_t b = 0; b < 4; ++b) EXPECT_EQ(decide(kind, a, b), holds(kind, a, b)) << text_of(kind, Dim(a).text(), Dim(b).text());
}

TEST(Assumptions, TextNamesTheSizes) {
  Symbols symbols;
  const Assumption a{SizeRelation::at_least, symbols.symbol("n") + 1, symbols.symbol("m"), "node 'x'", "too few"};
  EXPECT_EQ(a.text(), "n + 1 >= m");
}

}  // namespace
}  // namespace tenon::ir
