// SPDX-License-Identifier: Apache-2.0
#include "base/dim/dim.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

struct DimTest : testing::Test {
  Symbols symbols;
  Dim seq = symbols.symbol("seq", 1), batch = symbols.symbol("batch"), n = symbols.symbol("n", -100, 100);
};

TEST_F(DimTest, EqualPolynomialsAreOneHandle) {
  EXPECT_EQ(seq * 64, 64 * seq);
  EXPECT_EQ((seq + 1) * (seq - 1), seq * seq - 1);
  EXPECT_EQ(seq + batch - seq, batch);
  EXPECT_EQ(seq * batch - batch * seq, Dim(0));
  EXPECT_NE(seq, batch);
  EXPECT_EQ(product({batch, seq, 64}), 64 * seq * batch);
}

TEST_F(DimTest, DivisionTakesMultiplesOut) {
  EXPECT_EQ(floor_div(seq * 64, 64), seq);
  EXPECT_EQ(floor_div(seq * 64 + 63, 64), seq);
  EXPECT_EQ(floor_div(seq * 64 + 64, 64), seq + 1);
  EXPECT_EQ(floor_div(2 * seq + 1, 4), floor_div(seq, 2));
  EXPECT_EQ(floor_div(floor_div(n, 2), 3), floor_div(n, 6));
  EXPECT_EQ(floor_div(floor_div(n, 2) + 1, 3), floor_div(n + 2, 6));
  EXPECT_EQ(floor_div(batch * seq, seq), batch);
  EXPECT_EQ(floor_div(batch * seq + 3 * seq, seq), batch + 3);
  EXPECT_EQ(ceil_div(seq, 2), 0 - floor_div(0 - seq, 2));
  EXPECT_EQ(ceil_div(seq * 8, 4), 2 * seq);
  EXPECT_EQ(mod(seq * 6, 3), Dim(0));
  EXPECT_EQ(mod(Dim(-7), 3), Dim(2));
}

TEST_F(DimTest, ADivisorThatMayBeZeroStays) {
  EXPECT_NE(floor_div(seq * batch, batch), seq);
  EXPECT_EQ(exact_quotient(seq * batch, batch), seq);
  EXPECT_EQ(exact_quotient(seq * seq - 1, seq + 1), seq - 1);
  EXPECT_EQ(exact_quotient(seq + 1, batch), std::nullopt);
  EXPECT_EQ(exact_quotient(Dim(12), 4), Dim(3));
  EXPECT_EQ(exact_quotient(Dim(12), 5), std::nullopt);
  EXPECT_TRUE(floor_div(seq, 0).is_overflow());
}

TEST_F(DimTest, IntervalsSettleComparisons) {
  EXPECT_EQ(seq.equals(-1), false);
  EXPECT_EQ(batch.equals(0), std::nullopt);
  EXPECT_EQ(batch.less(0), false);
  EXPECT_EQ(batch.less(batch + 1), true);
  EXPECT_EQ((2 * n).equals(2 * batch + 1), false);
  EXPECT_EQ(mod(seq, 4).lower(), 0);
  EXPECT_EQ(mod(seq, 4).upper(), 3);
  EXPECT_EQ(floor_div(seq, 2).less(seq + 1), true);
  EXPECT_EQ(max(batch, 1).lower(), 1);
  EXPECT_EQ(max(seq, batch).less(seq), false);
  EXPECT_EQ(seq.less(min(seq, batch)), false);
}

TEST_F(DimTest, ChoicesFold) {
  EXPECT_EQ(max(seq, 1), seq);
  EXPECT_EQ(max(max(batch, 3), 5), max(batch, 5));
  EXPECT_EQ(min(batch, seq), min(seq, batch));
  EXPECT_EQ(min(min(batch, seq), batch), min(batch, seq));
  EXPECT_EQ(max(max(batch, seq), n), max(max(n, seq), batch));
  EXPECT_EQ(min(min(batch, seq), n), min(batch, min(seq, n)));
  EXPECT_EQ(max(max(max(batch, 3), seq), n), max(max(n, 3), max(seq, max(batch, 2))));
  EXPECT_EQ(less_than(seq, 1), Dim(0));
  EXPECT_EQ(equal_to(seq, -1), Dim(0));
  EXPECT_EQ(less_than(2 * seq, 2 * batch), less_than(seq, batch));
  EXPECT_EQ(select(less_than(seq, batch), seq, batch), min(seq, batch));
  EXPECT_EQ(select(less_than(seq, batch), batch, seq), max(seq, batch));
  EXPECT_EQ(select(equal_to(batch, 0), batch, 0), Dim(0));
  EXPECT_EQ(select(equal_to(seq, -1), 7, seq), seq);
}

TEST_F(DimTest, OverflowSpreadsAndEqualsNothing) {
  const Dim big = int64_t{1} << 61;
  const Dim over = big * big;
  EXPECT_TRUE(over.is_overflow());
  EXPECT_TRUE((over * 0).is_overflow());
  EXPECT_TRUE((over + seq).is_overflow());
  EXPECT_TRUE(max(over, 3).is_overflow());
  EXPECT_EQ(over.equals(over), false);
  EXPECT_EQ(over.text(), "overflow");
}

TEST_F(DimTest, HostileGrowthEndsInOverflow) {
  Dim sum = 0;
  for (int i = 0; i < 20; ++i) sum = sum + symbols.fresh();
  Dim power = sum;
  for (int i = 0; i < 20; ++i) power = power * sum;
  EXPECT_TRUE(power.is_overflow());
  Dim nest = seq;
  for (int i = 0; i < 200; ++i) nest = floor_div(nest * batch + 1, nest + 2);
  EXPECT_TRUE(nest.is_overflow());
}

TEST_F(DimTest, NarrowingASymbolNarrowsWhatIsMadeOfIt) {
  const Dim twice = 2 * batch;
  EXPECT_EQ(twice.lower(), 0);
  symbols.symbol("batch", 4, 16);
  EXPECT_EQ(twice.lower(), 8);
  EXPECT_EQ(twice.upper(), 32);
}

TEST_F(DimTest, TextParsesBack) {
  const Dim odd = symbols.symbol("batch-size \"x\"");
  for (Dim d : {seq, 64 * seq + 1, seq * seq - batch, 0 - seq, floor_div(seq + 1, 2), max(batch - 3, n), odd * 2, select(n, seq, batch),
                less_than(seq, n), equal_to(batch, n), Dim(-5), mod(batch, 7), floor_div(seq, batch), (Dim(int64_t{1} << 61) * 4)}) {
    EXPECT_EQ(symbols.parse(d.text()), d) << d.text();
  }
  EXPECT_EQ((64 * seq + 1).text(), "64*seq + 1");
  EXPECT_EQ(floor_div(seq + 1, 2).text(), "floordiv(seq + 1, 2)");
  EXPECT_EQ(text_of(DimList{batch, seq, 768}), "[batch, seq, 768]");
  EXPECT_EQ(symbols.parse("(seq + 1)//2 % 3"), mod(floor_div(seq + 1, 2), 3));
  for (const char* bad : {"", "seq +", "min(seq)", "(seq", "3 4", "\"a", "99999999999999999999", "floordiv"}) {
    EXPECT_EQ(symbols.parse(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(symbols.parse(std::string(100000, '(')), std::nullopt);
}

TEST_F(DimTest, ReadingANameNarrowsNothing) {
  EXPECT_EQ(symbols.parse("n + 1"), n + 1);
  EXPECT_EQ(n.lower(), -100);
}

TEST_F(DimTest, FreshNamesAreNew) {
  symbols.symbol("u0");
  EXPECT_EQ(symbols.fresh().text(), "u1");
  EXPECT_EQ(symbols.all().size(), 5u);
}

TEST_F(DimTest, SubstitutionEvaluates) {
  const Dim d = floor_div(seq * batch + 5, 3) + max(seq, batch);
  const auto value_of = [](const DimNode& s) -> Dim { return s.name == "seq" ? 10 : 4; };
  EXPECT_EQ(substitute(d, value_of), Dim(15 + 10));
  Symbols other;
  const Dim moved = substitute(64 * seq, [&](const DimNode& s) { return other.symbol(s.name); });
  EXPECT_EQ(moved.node()->symbols, &other);
  std::vector<std::string> names;
  each_symbol(d, [&](const DimNode& s) { names.push_back(s.name); });
  EXPECT_EQ(names.size(), 2u);
}

}  // namespace
}  // namespace tenon
