// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/expr/expr.h"

namespace tenon::inline base {

/// An i64 expression as a sum of coefficient * term + offset; terms are axes and whatever is not a sum, each once.
struct Linear {
  std::vector<std::pair<Expr, Dim>> terms;
  Dim offset = 0;

  void add(const Linear& other, Dim factor);
  bool is_constant() const { return terms.empty(); }
  bool overflowed() const;
};

/// The expression as a linear sum; a sum of one term where its form is not known. Numbers beyond 2^61 stay terms, so that wrapping sums
/// keep their meaning.
Linear linear_of(const Expr& e);
/// The sum as an expression: axes in their order, then other terms in the order of their first occurrence, then the offset.
Expr expr_of(const Linear& sum);

/// Known bounds of an i64 expression's value; nullopt: not known.
struct ExprRange {
  std::optional<Dim> lower, upper;
};
/// `extents`: of the axes; empty where they are not known (an axis is never negative).
ExprRange range_of(const Expr& e, std::span<const Dim> extents);
ExprRange range_of(const Linear& sum, std::span<const Dim> extents);

inline bool known_positive(Dim d) { return d.lower() > 0 && !d.is_overflow(); }
/// a <= b for all values of the symbols.
inline bool known_at_most(const std::optional<Dim>& a, const std::optional<Dim>& b) {
  return a && b && b->less(*a) == std::optional(false);
}
inline bool known_less(const std::optional<Dim>& a, const std::optional<Dim>& b) { return a && b && a->less(*b) == std::optional(true); }

}  // namespace tenon::inline base
