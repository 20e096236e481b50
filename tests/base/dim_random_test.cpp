// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "base/checked.h"
#include "base/dim/dim.h"

namespace tenon {
namespace {

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

TEST(RandomDims, AgreeWithNumbers) {
  Symbols symbols;
  const Dim seq = symbols.symbol("seq", 1), batch = symbols.symbol("batch"), n = symbols.symbol("n", -100, 100);
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
