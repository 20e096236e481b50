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
  /// Whether e >= 0 can be proved where each of `holds` is at least 0.
  bool is_known_nonnegative(const Expr& e, const std::vector<Expr>& holds) const;
  /// Whether d >= 0 can be proved by adding up at most `depth` facts.
  bool is_known_nonnegative(Dim d, int depth) const;
  bool follows_from_facts(Dim d, int depth) const;
  /// The size with symbols replaced by the sizes that equal_ has for them.
  Dim canonical(Dim d) const;
  void add_nonnegative(Dim size);
  void add_equal(Dim a, Dim b);

  /// A size that is at least 0. canonical: the same after canonical().
  struct Fact {
    Dim size, canonical;
    std::vector<const DimNode*> symbols;  ///< of `size`
  };

  /// facts_, with Fact::canonical up to date.
  const std::vector<Fact>& facts() const;

  DimList extents_;
  mutable std::vector<Fact> facts_;
  mutable bool are_canonical_ = true;         ///< Fact::canonical is up to date in all facts
  std::vector<std::pair<Dim, Dim>> equal_;    ///< pairs of a symbol and an equal size
  std::vector<ir::Assumption> alternatives_;  ///< each: two sizes are equal, or one of them is 1 (broadcasting)
  /// For sizes without a proof of being at least 0: the depth with which it was tried.
  mutable std::unordered_map<Dim, int> unproved_;
};

}  // namespace tenon::codegen
