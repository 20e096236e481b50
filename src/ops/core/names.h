// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace tenon::ops {

/// What an OpDef lists: names, schema lines, samples. Lives as long as the definition does; `names<...>` of one that is written in the
/// source, which lives as long as the program.
using Names = std::span<const std::string_view>;

/// A string literal as a template argument. A plain loop: in the thousands of evaluations of a build an algorithm of the library costs
/// five times as much.
template <size_t size>
struct Literal {
  char text[size];
  consteval Literal(const char (&literal)[size]) {
    for (size_t k = 0; k < size; ++k) text[k] = literal[k];
  }
  consteval std::string_view view() const { return {text, size - 1}; }
};
/// `.inputs = names<"data", "axes?">`
template <Literal... literals>
inline constexpr std::array<std::string_view, sizeof...(literals)> names = {literals.view()...};

/// `together<kA, names<"b">>`: one list behind the other, as a list.
template <const auto&... lists>
inline constexpr auto together = [] {
  std::array<std::string_view, (lists.size() + ...)> out;
  auto at = out.begin();
  ((at = std::ranges::copy(lists, at).out), ...);
  return out;
}();

}  // namespace tenon::ops
