// SPDX-License-Identifier: Apache-2.0
// Broadcasting of symbolic sizes, of which any may be 1: the inferred size is right for all numbers that the symbols can have together.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ops/infer/broadcast.h"

namespace tenon::ops {
namespace {

/// The size that numbers are broadcast to: the one that is not 1; nullopt where they cannot be broadcast.
std::optional<int64_t> spread(std::initializer_list<int64_t> sizes) {
  int64_t out = 1;
  for (int64_t size : sizes) {
    if (size < 0 || (size != 1 && out != 1 && size != out)) return std::nullopt;
    if (size != 1) out = size;
  }
  return out;
}

TEST(Broadcast, OfUnknownSizesIsRightAtEverySize) {
  Symbols symbols;
  const Dim n = symbols.symbol("n"), m = symbols.symbol("m"), k = symbols.symbol("k");
  const Dim turns = floor_div(n, 10) - 1;
  const std::array sizes = {n, m, n - 3, max(n - 3, 0), max(n, m), max(n, 4), min(n, m), turns, max(turns, 0), max(m, k), min(n, 1)};
  std::vector<std::array<int64_t, 3>> points;
  for (int64_t x : {0, 1, 2, 3, 5, 8, 39})
    for (int64_t y : {0, 1, 2, 3, 5, 8, 39})
      for (int64_t z : {0, 1, 5, 39}) points.push_back({x, y, z});
  const auto value = [&](Dim d, const std::array<int64_t, 3>& at) {
    return substitute(d, [&](const DimNode& s) { return Dim(at[s.name == "n" ? 0 : s.name == "m" ? 1 : 2]); }).value();
  };
  std::vector<std::vector<int64_t>> values;
  for (Dim d : sizes)
    for (auto& row = values.emplace_back(); const auto& at : points) row.push_back(value(d, at));
  int checked = 0;
  for (size_t a = 0; a < sizes.size(); ++a)
    for (size_t b = 0; b < sizes.size(); ++b)
      for (size_t c = 0; c < sizes.size(); ++c) {
        const std::string text = sizes[a].text() + ", " + sizes[b].text() + ", " + sizes[c].text();
        const auto ab = broadcast(sizes[a], sizes[b]);
        const auto abc = ab ? broadcast(*ab, sizes[c]) : std::nullopt;
        for (size_t p = 0; p < points.size(); ++p) {
          const auto want = spread({values[a][p], values[b][p], values[c][p]});
          if (!want) continue;
          ASSERT_TRUE(abc) << text;
          ASSERT_EQ(value(*abc, points[p]), *want) << abc->text() << " of " << text << " at " << ::testing::PrintToString(points[p]);
          ++checked;
        }
      }
  EXPECT_GT(checked, 10000);
}

TEST(Broadcast, ResultIsTheSameForAnyOrderOfSizes) {
  Symbols symbols;
  const Dim n = symbols.symbol("n"), m = symbols.symbol("m"), k = symbols.symbol("k");
  const auto joined = [](Dim a, Dim b, Dim c) { return *broadcast(*broadcast(a, b), c); };
  EXPECT_EQ(joined(n, m, k), joined(k, n, m));
  EXPECT_EQ(joined(n, m, k), *broadcast(n, *broadcast(k, m)));
  EXPECT_EQ(*broadcast(max(n - 3, 0), n - 3), n - 3);
}

}  // namespace
}  // namespace tenon::ops
