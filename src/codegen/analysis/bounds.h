// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "base/expr/expr.h"
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Proves comparisons of index expressions over the axes of one nest. An axis has at least one step where its nest runs at all.
class Bounds {
 public:
  Bounds(const Nest& nest, std::span<const ir::Assumption> assumptions);

  /// Whether 0 <= index < extent wherever `within` (may be null) holds: true (proved), false (it is not so for some step), or nullopt.
  std::optional<bool> inside(const Expr& index, Dim extent, const Expr& within) const;
  /// Lowest and highest value, as text: "0..n - 1", "?" where an end is not known.
  std::string range(const Expr& index) const;

 private:
  bool known_at_least_zero(const Expr& e, const std::vector<Expr>& holds) const;
  bool known_at_least_zero(Dim d, int depth) const;
  Dim settled(Dim d) const;
  void add_equal(Dim a, Dim b);

  DimList extents_;
  std::vector<Dim> not_negative_;           ///< sizes that are known to be 0 or more
  std::vector<std::pair<Dim, Dim>> equal_;  ///< a symbol, and what it is
  std::vector<ir::Assumption> either_;      ///< two sizes are equal, or one of them is 1
};

}  // namespace tenon::codegen
