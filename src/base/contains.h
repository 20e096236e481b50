// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <ranges>

namespace tenon::inline base {

/// std::ranges::contains of C++23, which the standard library of GCC 12 lacks.
template <std::ranges::input_range Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

}  // namespace tenon::inline base
