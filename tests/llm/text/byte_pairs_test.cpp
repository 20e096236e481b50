// SPDX-License-Identifier: Apache-2.0
#include "llm/text/byte_pairs.h"

#include <gtest/gtest.h>

namespace tenon::llm {
namespace {

BytePairs model_of(const std::vector<std::string>& tokens, const std::vector<std::pair<std::string, std::string>>& merges) {
  BytePairs out;
  for (size_t i = 0; i < tokens.size(); ++i) EXPECT_TRUE(out.vocabulary.add(tokens[i], static_cast<int64_t>(i), "here"));
  for (const auto& [left, right] : merges) EXPECT_TRUE(out.merges.add(left, right, out.vocabulary, "here"));
  out.prepare();
  return out;
}

/// The tokens of a word with spaces between.
std::string tokens_of(const BytePairs& model, std::string_view word) {
  MergeQueue queue;
  std::vector<TokenId> ids;
  model.encode(word, queue, ids);
  std::string out;
  for (const TokenId id : ids) out += (out.empty() ? "" : " ") + std::string(model.vocabulary.text(id));
  return out;
}

TEST(BytePairs, TheFirstMergeInRankComesFirst) {
  const BytePairs model = model_of({"a", "b", "c", "ab", "bc", "abc"}, {{"b", "c"}, {"a", "b"}, {"ab", "c"}});
  EXPECT_EQ(tokens_of(model, "abc"), "a bc");
  EXPECT_EQ(tokens_of(model, "abab"), "ab ab");
  EXPECT_EQ(tokens_of(model, ""), "");
}

TEST(BytePairs, EqualRanksMergeFromTheLeft) {
  const BytePairs model = model_of({"a", "aa"}, {{"a", "a"}});
  EXPECT_EQ(tokens_of(model, "aaaaa"), "aa aa a");
}

TEST(BytePairs, CharactersThatAreNoTokenBecomeBytesOrUnknown) {
  BytePairs model = model_of({"a", "?", "<0xC3>", "<0xA9>"}, {});
  EXPECT_EQ(tokens_of(model, "aéa"), "a a");
  model.byte_fallback = true;
  EXPECT_EQ(tokens_of(model, "aéa"), "a <0xC3> <0xA9> a");
  model.unknown = 1;
  EXPECT_EQ(tokens_of(model, "axyaz"), "a ? ? a ?");
  model.fuse_unknown = true;
  EXPECT_EQ(tokens_of(model, "axyaz"), "a ? a ?");
}

TEST(BytePairs, ScoresDecideWithoutMerges) {
  BytePairs model = model_of({"a", "b", "c", "ab", "bc", "<s>", "<", "s", ">", "<s", "<0xC3>", "<0xA9>"}, {});
  model.scores = {0, 0, 0, -2, -1, 0, 0, 0, 0, -3, 0, 0};
  model.reserved = {false, false, false, false, false, true};
  model.byte_fallback = true;
  EXPECT_EQ(tokens_of(model, "abc"), "a bc");
  EXPECT_EQ(tokens_of(model, "abé"), "ab <0xC3> <0xA9>");
  EXPECT_EQ(tokens_of(model, "<s>"), "<s >");
}

TEST(BytePairs, WholeWordsAreLookedUpFirst) {
  BytePairs model = model_of({"a", "b", "aba"}, {});
  EXPECT_EQ(tokens_of(model, "aba"), "a b a");
  model.whole_words = true;
  EXPECT_EQ(tokens_of(model, "aba"), "aba");
}

TEST(BytePairs, AWordOfAMegabyteTakesNoQuadraticTime) {
  const BytePairs model = model_of({"a", "aa", "aaaa", "aaaaaaaa"}, {{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}});
  MergeQueue queue;
  std::vector<TokenId> ids;
  model.encode(std::string(1 << 20, 'a'), queue, ids);
  EXPECT_EQ(ids, std::vector<TokenId>(1 << 17, 3));
}

TEST(Vocabulary, RefusesTokensThatAppearTwice) {
  Vocabulary v;
  ASSERT_TRUE(v.add("a", 0, "here"));
  EXPECT_EQ(v.add("a", 1, "here").error()->found, "'a' with ids 0 and 1");
  EXPECT_EQ(v.add("b", 0, "here").error()->found, "id 0 with 'a' and 'b'");
  EXPECT_EQ(v.add("b", kMostTokens, "here").error().code(), Code::limit_exceeded);
  EXPECT_EQ(v.add("b", -1, "here").error().code(), Code::limit_exceeded);
  for (int64_t id = 1; id < 5000; ++id) ASSERT_TRUE(v.add("t" + std::to_string(id), id, "here"));
  for (TokenId id = 1; id < 5000; ++id) ASSERT_EQ(v.find("t" + std::to_string(id)), id);
  EXPECT_EQ(v.find("t5000"), kNoToken);
}

TEST(Merges, RefusesCyclicAndUnknownOnes) {
  Vocabulary v;
  for (const auto& [text, id] : std::vector<std::pair<std::string, int64_t>>{{"a", 0}, {"b", 1}, {"ab", 2}, {"", 3}})
    ASSERT_TRUE(v.add(text, id, "here"));
  Merges merges;
  EXPECT_TRUE(merges.add("a", "b", v, "here"));
  EXPECT_EQ(merges.add("", "a", v, "here").error()->what, "merge 1 is cyclic: it has an empty part");
  EXPECT_EQ(merges.add("a", "a", v, "here").error()->found, "'a' and 'a'; what they are together is no token");
  EXPECT_EQ(merges.add("c", "a", v, "here").error()->found, "'c' and 'a'; the first is no token");
  EXPECT_EQ(merges.find(0, 1).id, 2);
  EXPECT_EQ(merges.find(1, 0).id, kNoToken);
}

}  // namespace
}  // namespace tenon::llm
