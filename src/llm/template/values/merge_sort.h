// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <vector>

#include "base/result.h"

namespace tenon::llm::jinja {

/// Sorts stably. is_less: Result<bool>(a, b); its first error ends the sort. Any answers are safe, also those of an order that is none
/// (NaN), which std::sort does not allow.
template <class T, class Less>
Result<void> merge_sort(std::vector<T>& items, const Less& is_less) {
  std::vector<T> merged(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      const size_t middle = std::min(begin + width, items.size()), end = std::min(begin + 2 * width, items.size());
      size_t left = begin, right = middle;
      for (size_t out = begin; out < end; ++out) {
        const bool takes_right = left == middle || (right < end && TRY(is_less(items[right], items[left])));
        merged[out] = items[takes_right ? right++ : left++];
      }
    }
    items.swap(merged);
  }
  return {};
}

}  // namespace tenon::llm::jinja
