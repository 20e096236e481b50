// SPDX-License-Identifier: Apache-2.0
#include "llm/text/regex.h"

#include <gtest/gtest.h>

#include "llm/text/oniguruma.h"

namespace tenon::llm {
namespace {

/// The matches of the pattern with '|' between.
std::string found(std::string_view pattern, std::string_view text) {
  const auto regex = Regex::compile(pattern, "here");
  if (!regex) return regex.error().text();
  const auto matches = regex->matches(text);
  if (!matches) return matches.error().text();
  std::string out;
  for (const TextRange& match : *matches) out += (out.empty() ? "" : "|") + std::string(text.substr(match.begin, match.size()));
  return out;
}

Code refused(std::string_view pattern) {
  const auto regex = Regex::compile(pattern, "here");
  return regex ? Code::internal : regex.error().code();
}

TEST(Regex, MatchesAreThoseOfOniguruma) {
  EXPECT_EQ(found(R"(\s)", "a\u180e b\u0085"), " |\u0085");
  EXPECT_EQ(found(R"(\h+)", "xyz cafe 12"), "cafe|12");
  EXPECT_EQ(found(R"(\p{Han}+)", "一。ー〆々"), "一|々");  // the ideographic full stop is Han by extension only
  EXPECT_EQ(found(R"(\p{N}{1,2}+)", "12345 6"), "12345|6");
  EXPECT_EQ(found(R"(\p{N}{1,2})", "12345"), "12|34|5");
  EXPECT_EQ(found(R"(\w+)", "aé_३ⅷ①‿"), "aé_३ⅷ|‿");
  EXPECT_EQ(found(R"([^\S\n]+)", " \t\nx"), " \t");
  EXPECT_EQ(found(R"(b$)", "ab\nb"), "b|b");
  EXPECT_EQ(found(R"([a[bc]-]+)", "xab-cd"), "ab-c");
  EXPECT_EQ(found(R"((?i:'s))", "'ſ 'S"), "'ſ|'S");
  EXPECT_EQ(found(R"(x{,2}{)", "xx{ {"), "xx{|{");
  EXPECT_EQ(found(R"(\u4e00)", "a一"), "一");
}

TEST(Regex, EmptyMatchesDoNotFollowAMatch) {
  const auto regex = Regex::compile("(?=b)|a", "here");
  ASSERT_TRUE(regex);
  const auto matches = regex->matches("ab\u00e9b");
  ASSERT_TRUE(matches);
  ASSERT_EQ(matches->size(), 2u);
  EXPECT_EQ((*matches)[1].begin, 4u);
}

TEST(Regex, WhatPcre2CannotDoIsRefused) {
  EXPECT_EQ(refused("[a-w&&[^c-g]]"), Code::not_supported);
  EXPECT_EQ(refused("[a[^b]]"), Code::not_supported);
  EXPECT_EQ(refused("(?~abc)"), Code::not_supported);
  EXPECT_EQ(refused(R"((?<n>a)\k<n>)"), Code::not_supported);
  EXPECT_EQ(refused("(?-m:.)"), Code::not_supported);
  for (const char* broken : {"(", "[a", "a)", "*", R"(\)", R"(\p{Nothing})", "[", "[^", "(?", "(?<", R"([\)", R"(\C)", "[[:x"})
    EXPECT_EQ(refused(broken), Code::bad_file) << broken;
  EXPECT_EQ(refused(std::string(300, '(')), Code::bad_file);
  EXPECT_EQ(refused(std::string(70'000, 'a')), Code::limit_exceeded);
}

TEST(Regex, EndlessMatchesEnd) {
  const auto regex = Regex::compile("(a+)+[bc]", "here");
  ASSERT_TRUE(regex);
  const auto matches = regex->matches(std::string(60, 'a'));
  ASSERT_FALSE(matches);
  EXPECT_EQ(matches.error().code(), Code::limit_exceeded);
}

}  // namespace
}  // namespace tenon::llm
