// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace tenon::inline base {

/// The number of letters that are inserted, deleted, changed or swapped with the next one to get from a to b, without regard to case.
/// Source: Damerau 1964, Levenshtein 1966. Cost: the product of the lengths without common prefix and suffix. Returns 64 where one of these
/// lengths is larger.
size_t edit_distance(std::string_view a, std::string_view b);

/// The one of `names` that differs least from `name`, where a typo explains the difference; else "".
template <class Range>
std::string nearest_name(std::string_view name, const Range& names) {
  std::string best;
  size_t least = name.size() / 3 + 1;
  for (std::string_view candidate : names) {
    const size_t distance = edit_distance(name, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

/// "did you mean 'NEAREST'?" where nearest_name() finds one; else `otherwise`.
template <class Range>
std::string did_you_mean(std::string_view name, const Range& names, std::string otherwise = "") {
  const std::string nearest = nearest_name(name, names);
  return nearest.empty() ? std::move(otherwise) : "did you mean '" + nearest + "'?";
}

}  // namespace tenon::inline base
