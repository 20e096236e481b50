// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace tenon::inline base {

size_t edit_distance(std::string_view a, std::string_view b) {
  constexpr size_t kMost = 64;
  const auto like = [](char x, char y) { return std::tolower(x) == std::tolower(y); };
  while (!a.empty() && !b.empty() && like(a.front(), b.front())) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && like(a.back(), b.back())) a.remove_suffix(1), b.remove_suffix(1);
  if (a.size() > kMost || b.size() > kMost) return kMost;
  const auto same = [&](size_t i, size_t j) { return like(a[i], b[j]); };
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + !same(i - 1, j - 1)});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1)) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace tenon::inline base
