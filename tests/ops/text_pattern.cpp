// SPDX-License-Identifier: Apache-2.0
#include "ops/text/pattern.h"

#include <gtest/gtest.h>

namespace tenon::ops {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  auto parsed = TextPattern::parse(pattern, "here");
  EXPECT_TRUE(parsed) << pattern << ": " << parsed.error().text();
  return parsed && parsed->matches(text);
}

TEST(TextPattern, MatchesTheWholeText) {
  for (auto [pattern, text] : std::initializer_list<std::pair<const char*, const char*>>{{"", ""},
                                                                                         {"a", "a"},
                                                                                         {"a|b|", ""},
                                                                                         {"(a|bc)*d", "abcad"},
                                                                                         {"a.c",
                                                                                          "a\xc3\xa4"
                                                                                          "c"},
                                                                                         {"[a-c^-]+", "b-^a"},
                                                                                         {"[^a-c]", "d"},
                                                                                         {"[]x]+", "]x"},
                                                                                         {"a{2}", "aa"},
                                                                                         {"a{2,}", "aaaa"},
                                                                                         {"a{1,2}b?", "aa"},
                                                                                         {"a{,2}", "a{,2}"},
                                                                                         {"\\d+\\.\\D", "12.x"},
                                                                                         {"\\w+\\b\\W\\bb", "a b"},
                                                                                         {"a\\Bb", "ab"},
                                                                                         {"^a$", "a"},
                                                                                         {"(?:a|b)+?c", "abac"},
                                                                                         {"\\s", "\t"},
                                                                                         {"[\\]\\d]+", "]7"}})
    EXPECT_TRUE(matches(pattern, text)) << pattern << " on " << text;
  for (auto [pattern, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "a"}, {"a", "ab"}, {"a.c", "a\nc"}, {"[^a-c]", "b"}, {"a{2}", "a"}, {"a{1,2}", "aaa"}, {"a\\bb", "ab"}, {"(a|b)c", "abc"}})
    EXPECT_FALSE(matches(pattern, text)) << pattern << " on " << text;
}

TEST(TextPattern, TakesLinearTime) { EXPECT_FALSE(matches("(a*)*(a*)*(a?){50}b", std::string(5000, 'a'))); }

TEST(TextPattern, UnsupportedSyntaxIsRefused) {
  for (auto [pattern, code] : std::initializer_list<std::pair<const char*, Code>>{{"(a", Code::bad_attribute},
                                                                                  {"a)", Code::bad_attribute},
                                                                                  {"[a", Code::bad_attribute},
                                                                                  {"*a", Code::bad_attribute},
                                                                                  {"[b-a]", Code::bad_attribute},
                                                                                  {"a\\", Code::bad_attribute},
                                                                                  {"a{2,1}", Code::bad_attribute},
                                                                                  {"a**", Code::bad_attribute},
                                                                                  {"a{1001}", Code::bad_attribute},
                                                                                  {"(?i)a", Code::not_supported},
                                                                                  {"\\pL", Code::not_supported},
                                                                                  {"[[:alpha:]]", Code::not_supported},
                                                                                  {"\\x", Code::not_supported},
                                                                                  {"((a{1000}){1000}){1000}", Code::limit_exceeded}}) {
    const auto parsed = TextPattern::parse(pattern, "here");
    ASSERT_FALSE(parsed) << pattern;
    EXPECT_EQ(parsed.error().code(), code) << parsed.error().text();
  }
  EXPECT_EQ(TextPattern::parse(std::string(100000, '('), "here").error().code(), Code::limit_exceeded);
}

}  // namespace
}  // namespace tenon::ops
