// SPDX-License-Identifier: Apache-2.0
#include "base/dim.h"

#include <gtest/gtest.h>

#include <random>

#include "base/checked.h"

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

/// Builds random expressions twice, symbolically and in numbers, and expects one value, inside the bounds.
struct Pair {
  Dim dim;
  int64_t value;
};

Pair random_pair(std::mt19937& random, const std::vector<Pair>& leaves, int depth) {
  const auto pick = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  if (const int c = pick(9) - 4; depth == 0 && pick(3) == 0) return {c, c};
  if (depth == 0) return leaves[static_cast<size_t>(pick(static_cast<int>(leaves.size())))];
  const Pair a = random_pair(random, leaves, depth - 1), b = random_pair(random, leaves, depth - 1);
  const int64_t k = pick(5) + 1;
  switch (pick(9)) {
    case 0: return {a.dim + b.dim, a.value + b.value};
    case 1: return {a.dim - b.dim, a.value - b.value};
    case 2: return {a.dim * k, a.value * k};
    case 3: return {floor_div(a.dim, k), floor_div(a.value, k)};
    case 4: return {mod(a.dim, k), floor_mod(a.value, k)};
    case 5: return {min(a.dim, b.dim), std::min(a.value, b.value)};
    case 6: return {max(a.dim, b.dim), std::max(a.value, b.value)};
    case 7: return {select(less_than(a.dim, b.dim), a.dim, b.dim * 2), a.value < b.value ? a.value : b.value * 2};
    default: return {equal_to(a.dim, b.dim) + a.dim * b.dim, (a.value == b.value) + a.value * b.value};
  }
}

TEST_F(DimTest, RandomExpressionsAgreeWithNumbers) {
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    std::vector<Pair> leaves = {{seq, 1 + static_cast<int64_t>(random() % 20)},
                                {batch, static_cast<int64_t>(random() % 20)},
                                {n, static_cast<int64_t>(random() % 201) - 100}};
    Pair pair = random_pair(random, leaves, 1 + round % 3);
    const Dim number = substitute(pair.dim, [&](const DimNode& s) -> Dim {
      return leaves[s.name == "seq" ? 0 : s.name == "batch" ? 1 : 2].value;
    });
    ASSERT_TRUE(number.is_number());
    EXPECT_EQ(number.value(), pair.value) << pair.dim.text();
    EXPECT_GE(number.value(), pair.dim.lower()) << pair.dim.text();
    EXPECT_LE(number.value(), pair.dim.upper()) << pair.dim.text();
    const auto again = symbols.parse(pair.dim.text());
    EXPECT_EQ(again, pair.dim) << pair.dim.text();
  }
}

}  // namespace
}  // namespace tenon
