// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

namespace tenon::ops {

/// What an OpDef lists: names, schema lines, samples. Either written in the definition, `.inputs = {{"data", "axes?"}}`, which
/// lives as long as the definition; or a view of data that outlives it: `{.made = ...}`.
struct Names {
  std::initializer_list<std::string_view> written = {};
  std::span<const std::string_view> made = {};

  constexpr std::span<const std::string_view> view() const { return made.empty() ? std::span(written.begin(), written.size()) : made; }
  constexpr operator std::span<const std::string_view>() const { return view(); }  // NOLINT: it is one
  constexpr const std::string_view* begin() const { return view().data(); }
  constexpr const std::string_view* end() const { return view().data() + view().size(); }
  constexpr size_t size() const { return view().size(); }
  constexpr bool empty() const { return size() == 0; }
  constexpr std::string_view operator[](size_t k) const { return view()[k]; }
};

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
/// A list that lives as long as the program, wherever it is written: `own.inputs = {.made = names<"data", "axes?">}`.
template <Literal... literals>
inline constexpr std::array<std::string_view, sizeof...(literals)> names = {literals.view()...};

/// `together<kA, names<"b">>`: one list after the other, as a list.
template <const auto&... lists>
inline constexpr auto together = [] {
  std::array<std::string_view, (lists.size() + ...)> out;
  auto at = out.begin();
  ((at = std::ranges::copy(lists, at).out), ...);
  return out;
}();

}  // namespace tenon::ops
