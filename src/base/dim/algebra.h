// SPDX-License-Identifier: Apache-2.0
// Internals of the shape algebra; nothing outside of src/base includes this file.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/dim/dim.h"

namespace tenon::inline base {

/// Terms sorted by degree (highest first), then by the ids of the factors; no two alike, no coefficient 0. Empty: the number 0.
using Poly = std::vector<DimNode::Term>;

struct DimNodeHash {
  size_t operator()(const DimNode* node) const;
};
struct DimNodeEqual {
  bool operator()(const DimNode* a, const DimNode* b) const;
};

/// A cached result of a sum, difference or product.
struct DimMemo {
  Dim a, b, result;
  char operation = 0;
};

struct Symbols::State {
  std::deque<DimNode> nodes;
  /// A direct-mapped cache by hash: inference computes the same few element counts repeatedly. Empty until first used.
  std::vector<DimMemo> memo;
  std::unordered_set<const DimNode*, DimNodeHash, DimNodeEqual> interned;
  std::unordered_map<std::string, Dim> by_name;
  std::vector<Dim> all;
  uint64_t next_fresh = 0;
};

/// Bounds of a value; +-kUnbounded: none is known.
struct Interval {
  int64_t lower, upper;
};
inline constexpr int64_t kUnbounded = int64_t{1} << 62;

struct DimAlgebra {
  static Dim overflow();
  static Symbols* symbols_of(Dim a, Dim b = 0, Dim c = 0);
  /// The canonical handle of a polynomial; overflow where it outgrew its limits.
  static Dim dim_of(Symbols* symbols, Poly poly);
  static Dim dim_of(const DimNode* node) { return Dim(node); }
  static Dim atom(Symbols* symbols, DimNode::Kind kind, std::vector<Dim> operands);
  static const DimNode* intern(Symbols* symbols, DimNode candidate);
  /// Recomputes all bounds after a symbol was narrowed.
  static void refresh(Symbols::State& state);
  static Symbols::State& state_of(Symbols* symbols) { return *symbols->state_; }
};

/// Whether a symbol's name is written without quotes: an identifier that is no keyword of the algebra.
bool is_plain_name(std::string_view name);

Poly poly_of(Dim dim);
/// nullopt where a coefficient leaves 62 bits or the terms become too many.
std::optional<Poly> add(const Poly& a, const Poly& b, int64_t factor_of_b = 1);
std::optional<Poly> multiply(const Poly& a, const Poly& b);
/// The order of terms: a monomial order (graded, then lexicographic), so that polynomials can be divided.
bool before(const DimNode::Term& a, const DimNode::Term& b);
int64_t constant_of(const Poly& p);
/// Greatest common divisor of all coefficients but the constant's; 0 where there are none.
int64_t content_of(const Poly& p);

Interval interval_of(const Poly& p);
Interval interval_of(Dim dim);
Interval interval_of(const DimNode& node);
/// Bounds of a - b; unbounded where the difference overflows.
Interval difference(Dim a, Dim b);

}  // namespace tenon::inline base
