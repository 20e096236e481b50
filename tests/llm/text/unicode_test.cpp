// SPDX-License-Identifier: Apache-2.0
#include "llm/text/unicode.h"

#include <gtest/gtest.h>

#include "llm/text/utf8.h"

namespace tenon::llm {
namespace {

TEST(Unicode, NormalFormsComposeAndDecompose) {
  EXPECT_EQ(normalized("e\u0301", NormalForm::nfc), "\u00e9");
  EXPECT_EQ(normalized("\u00e9", NormalForm::nfd), "e\u0301");
  EXPECT_EQ(normalized("\ufb01\u00b2", NormalForm::nfkc), "fi2");
  EXPECT_EQ(normalized("\ufb01\u00b2", NormalForm::nfc), "\ufb01\u00b2");
  EXPECT_EQ(normalized("\u1100\u1161\u11a8", NormalForm::nfc), "\uac01");    // Hangul
  EXPECT_EQ(normalized("a\u0315\u0300", NormalForm::nfd), "a\u0300\u0315");  // marks in the order of their classes
  EXPECT_EQ(normalized("\u0958", NormalForm::nfc), "\u0915\u093c");          // excluded from composition
  EXPECT_EQ(normalized("plain", NormalForm::nfkd), "plain");
}

TEST(Unicode, MillionsOfMarksTakeNoQuadraticTime) {
  std::string text = "a", expected = "a";
  constexpr int kMarks = 300'000;
  for (int i = 0; i < kMarks; ++i) text += "\u0307";  // class 230
  for (int i = 0; i < kMarks; ++i) text += "\u0323";  // class 220
  const std::string out = normalized(text, NormalForm::nfd);
  EXPECT_EQ(out.size(), text.size());
  EXPECT_EQ(out.substr(0, 3), "a\u0323");
}

TEST(Unicode, LowerCaseIsFullAndWithoutContext) {
  EXPECT_EQ(lower_case("\u00c4BC \u03a3\u03a3"), "\u00e4bc \u03c3\u03c3");
  EXPECT_EQ(lower_case("\u0130"), "i\u0307");
}

TEST(Unicode, WhiteSpaceIsUnicodesProperty) {
  for (uint32_t code : {0x09u, 0x0du, 0x20u, 0x85u, 0xa0u, 0x1680u, 0x2028u, 0x202fu, 0x3000u}) EXPECT_TRUE(is_space(code)) << code;
  for (uint32_t code : {0x08u, 0x1cu, 0x180eu, 0x200bu, 0xfeffu}) EXPECT_FALSE(is_space(code)) << code;
}

TEST(Utf8, PartsThatAreNoneBecomeOneReplacementEach) {
  EXPECT_EQ(sound_utf8("a\xe2\x82z"), "a\ufffdz");              // cut: one part of two bytes
  EXPECT_EQ(sound_utf8("\xc0\xaf"), "\ufffd\ufffd");            // overlong
  EXPECT_EQ(sound_utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");  // a surrogate
  EXPECT_EQ(sound_utf8("\xf0\x9f\x98\x80"), "\U0001f600");
  EXPECT_TRUE(utf8_step("\xf0\x9f", 0).cut);
  EXPECT_FALSE(utf8_step("\xf0\x9f!", 0).cut);
}

}  // namespace
}  // namespace tenon::llm
