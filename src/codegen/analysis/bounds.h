// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "base/expr/expr.h"
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Proves comparisons of index expressions over the axes of one nest. Each axis is taken to have at least one step: otherwise nothing runs.
class Bounds {
 public:
  Bounds(const Nest& nest, std::span<const ir::Assumption> assumptions);

  /// Whether 0 <= index < extent wherever `within` (may be null) holds: true or false where proved (false: for some step), nullopt:
  /// unknown.
  std::optional<bool> inside(const Expr& index, Dim extent, const Expr& within) const;
  /// Lowest and highest value, as text: "0..n - 1", "?" where an end is not known.
  std::string range(const Expr& index) const;

 private:
  bool known_at_least_zero(const Expr& e, const std::vector<Expr>& holds) const;
  bool known_at_least_zero(Dim d, int depth) const;
  Dim settled(Dim d) const;
  void add_equal(Dim a, Dim b);

  DimList extents_;
  std::vector<Dim> not_negative_;           ///< sizes that are at least 0
  std::vector<std::pair<Dim, Dim>> equal_;  ///< pairs of a symbol and an equal size
  std::vector<ir::Assumption> either_;      ///< each: two sizes are equal, or one of them is 1 (broadcasting)
};

}  // namespace tenon::codegen
