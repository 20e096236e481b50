// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/stop_strings.h"

#include <gtest/gtest.h>

#include <random>

namespace tenon::llm {
namespace {

std::string shown_of(StopStrings& stops, const std::vector<std::string>& pieces) {
  std::string shown;
  for (const std::string& piece : pieces) stops.add(piece, shown);
  stops.finish(shown);
  return shown;
}

TEST(StopStrings, AreFoundAcrossTokenBorders) {
  auto stops = StopStrings::make({"</end>", "\n\n"}).value();
  EXPECT_EQ(shown_of(stops, {"ab<", "/e", "nd", ">cd"}), "ab");
  EXPECT_TRUE(stops.has_stopped());
  stops.reset();
  EXPECT_EQ(shown_of(stops, {"ab</e", "x\n", "y"}), "ab</ex\ny");
  EXPECT_FALSE(stops.has_stopped());
}

TEST(StopStrings, HoldBackWhatMayBegin) {
  auto stops = StopStrings::make({"stop"}).value();
  std::string shown;
  stops.add("a st", shown);
  EXPECT_EQ(shown, "a ");
  stops.add("o", shown);
  EXPECT_EQ(shown, "a ");
  stops.add("ne", shown);
  EXPECT_EQ(shown, "a stone");
  stops.add("s", shown);
  EXPECT_EQ(shown, "a stone");
  stops.finish(shown);
  EXPECT_EQ(shown, "a stones");
}

TEST(StopStrings, RandomPiecesStopWhereTheWholeTextDoes) {
  std::mt19937 random(3);
  const auto text_of = [&](size_t most) {
    std::string out(1 + random() % most, 'a');
    for (char& c : out) c = static_cast<char>('a' + random() % 2);
    return out;
  };
  for (int round = 0; round < 2000; ++round) {
    const std::vector<std::string> strings{text_of(8), text_of(5)};
    const std::string text = text_of(60);
    size_t first = std::string::npos;
    for (size_t end = 1; end <= text.size() && first == std::string::npos; ++end)
      first = std::min(text.substr(0, end).find(strings[0]), text.substr(0, end).find(strings[1]));
    auto stops = StopStrings::make(strings).value();
    std::string shown;
    for (size_t at = 0; at < text.size();) {
      const size_t length = 1 + random() % 4;
      stops.add(std::string_view(text).substr(at, length), shown);
      at += length;
      ASSERT_TRUE(std::string_view(text).starts_with(shown));
    }
    stops.finish(shown);
    ASSERT_EQ(shown, text.substr(0, first));
    ASSERT_EQ(stops.has_stopped(), first != std::string::npos);
  }
}

TEST(StopStrings, EmptyOnesAreRefused) {
  EXPECT_FALSE(StopStrings::make({"a", ""}));
  auto none = StopStrings::make({}).value();
  EXPECT_EQ(shown_of(none, {"a", "b"}), "ab");
}

TEST(StopTokens, ContainThoseOfTheList) {
  const StopTokens tokens({2, 7});
  EXPECT_TRUE(tokens.contains(7));
  EXPECT_FALSE(tokens.contains(3));
}

}  // namespace
}  // namespace tenon::llm
