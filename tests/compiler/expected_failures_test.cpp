// SPDX-License-Identifier: Apache-2.0
#include "expected_failures.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

constexpr std::string_view kList = R"(# a comment
count a 3
count b 1

refused: maps are not supported yet
  a/map_*
differs: two orders of a sum
  b/sum @3
)";

using Texts = std::vector<std::string>;

TEST(ExpectedFailures, SilentWhereAllIsAsListed) {
  ExpectedFailures list = ExpectedFailures::parse(kList);
  EXPECT_TRUE(list.judge("a/add", 3, Ending::passed));
  EXPECT_TRUE(list.judge("a/map_1", 3, Ending::refused));
  EXPECT_TRUE(list.judge("a/map_2", 3, Ending::refused));
  EXPECT_TRUE(list.judge("b/sum", 3, Ending::differs));
  EXPECT_EQ(list.complaints(3), Texts());
  EXPECT_EQ(list.skipped().at("refused: maps are not supported yet"), 2u);
}

TEST(ExpectedFailures, AFailureThatIsNotListed) {
  ExpectedFailures list = ExpectedFailures::parse(kList);
  for (Ending ending : {Ending::refused, Ending::differs, Ending::broken}) EXPECT_FALSE(list.judge("a/add", 3, ending));
  EXPECT_FALSE(list.judge("b/sum", 0, Ending::differs)) << "listed for another level";
}

TEST(ExpectedFailures, AListedOneThatEndsOtherwise) {
  for (Ending ending : {Ending::passed, Ending::differs, Ending::broken})
    EXPECT_FALSE(ExpectedFailures::parse(kList).judge("a/map_1", 3, ending)) << word_of(ending);
}

TEST(ExpectedFailures, VanishedTests) {
  ExpectedFailures list = ExpectedFailures::parse(kList);
  EXPECT_TRUE(list.judge("a/add", 0, Ending::passed));
  EXPECT_TRUE(list.judge("c/new", 0, Ending::passed));
  EXPECT_EQ(list.complaints(0), (Texts{"no test is named a/map_*", "3 tests of a are expected, 1 found",
                                       "1 tests of b are expected, 0 found", "no count is held for c, 1 found"}));
}

TEST(ExpectedFailures, LinesThatAreNotUnderstood) {
  for (const char* text : {"  a/before_any_reason", "skipped: why", "refused: ", "count a", "count a 1 2", "count a 1\ncount a 1",
                           "refused: why\n  a/b 3", "refused: why\n  a/b @3 @0"})
    EXPECT_NE(ExpectedFailures::parse(text).complaints(0).size(), 0u) << text;
}

}  // namespace
}  // namespace tenon::compiler
