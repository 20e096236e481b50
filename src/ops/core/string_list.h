// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

namespace tenon::ops {

/// A list of strings in an OpDef: names, schema lines, samples. Either a list of literals inside the definition,
/// `.inputs = {{"data", "axes?"}}`, which lives as long as the definition; or a view of an array that outlives it:
/// `.inputs = {.array = literals<"data", "axes?">}`.
struct StringList {
  std::initializer_list<std::string_view> list = {};
  std::span<const std::string_view> array = {};

  constexpr std::span<const std::string_view> view() const { return array.empty() ? std::span(list.begin(), list.size()) : array; }
  constexpr operator std::span<const std::string_view>() const { return view(); }  // NOLINT: a span of its strings loses nothing
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
/// An array of string literals that lives as long as the program, wherever it is written: `literals<"data", "axes?">`.
template <Literal... texts>
inline constexpr std::array<std::string_view, sizeof...(texts)> literals = {texts.view()...};

/// The elements of several arrays in one: `concatenated<kA, literals<"b">>`.
template <const auto&... arrays>
inline constexpr auto concatenated = [] {
  std::array<std::string_view, (arrays.size() + ...)> out;
  auto at = out.begin();
  ((at = std::ranges::copy(arrays, at).out), ...);
  return out;
}();

}  // namespace tenon::ops
