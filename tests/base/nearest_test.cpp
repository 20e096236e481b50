// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

namespace tenon {
namespace {

TEST(EditDistance, CountsLettersAddedLostChangedAndSwapped) {
  EXPECT_EQ(edit_distance("Relu", "relu"), 0u);
  EXPECT_EQ(edit_distance("Relu", "Rellu"), 1u);
  EXPECT_EQ(edit_distance("Relu", "Reul"), 1u);
  EXPECT_EQ(edit_distance("Relu", "Selu"), 1u);
  EXPECT_EQ(edit_distance("aba", "abaaba"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(EditDistance, OfLongNamesIsThatOfWhatDiffers) {
  const std::string beginning(100, 'a'), end(100, 'z');
  EXPECT_EQ(edit_distance(beginning + "bc" + end, beginning + "cb" + end), 1u);
  EXPECT_EQ(edit_distance(beginning, end), 64u);
}

TEST(NearestName, IsOneThatATypoExplains) {
  const std::vector<std::string> names = {"Relu", "Selu", "Softmax"};
  EXPECT_EQ(nearest_name("Rellu", names), "Relu");
  EXPECT_EQ(nearest_name("Sotfmax", names), "Softmax");
  EXPECT_EQ(nearest_name("Conv", names), "");
}

}  // namespace
}  // namespace tenon
