// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <utility>

#include "ops/core/op.h"

namespace tenon::ops {

template <const Names&... lists>
struct Together {
  static constexpr auto all = [] {
    std::array<std::string_view, (lists.size() + ...)> out;
    auto at = out.begin();
    ((at = std::ranges::copy(lists, at).out), ...);
    return out;
  }();
  template <class>
  struct Listed;
  template <size_t... k>
  struct Listed<std::index_sequence<k...>> {
    static constexpr Names names = {all[k]...};
  };
};
/// `together<kA, kB>`: one list behind the other, as a list.
template <const Names&... lists>
inline constexpr Names together = Together<lists...>::template Listed<std::make_index_sequence<Together<lists...>::all.size()>>::names;

}  // namespace tenon::ops
