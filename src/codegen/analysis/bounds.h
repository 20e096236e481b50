// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <unordered_map>

#include "base/expr/expr.h"
#include "codegen/plan/plan.h"

namespace tenon::codegen {

/// Proves comparisons of index expressions over the axes of one nest. Each axis is taken to have at least one step: otherwise nothing runs.
/// Cost: up to facts^3 differences where nothing is proved; each difference is tried once.
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
  /// By at most `depth` facts.
  bool known_at_least_zero(Dim d, int depth) const;
  bool follows_from_a_fact(Dim d, int depth) const;
  Dim settled(Dim d) const;
  void add_not_negative(Dim size);
  void add_equal(Dim a, Dim b);

  /// A size that is at least 0.
  struct Fact {
    Dim size, settled;
    std::vector<const DimNode*> symbols;  ///< of `size`
  };

  /// All, with `settled` up to date.
  const std::vector<Fact>& facts() const;

  DimList extents_;
  mutable std::vector<Fact> not_negative_;
  mutable bool are_settled_ = true;
  std::vector<std::pair<Dim, Dim>> equal_;  ///< pairs of a symbol and an equal size
  std::vector<ir::Assumption> either_;      ///< each: two sizes are equal, or one of them is 1 (broadcasting)
  /// Differences for which no proof of so many steps was found.
  mutable std::unordered_map<Dim, int> unproved_;
};

}  // namespace tenon::codegen
