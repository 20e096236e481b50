// SPDX-License-Identifier: Apache-2.0
// min, max, select and comparisons of sizes.
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/dim/algebra.h"

namespace tenon::inline base {
namespace {

using Kind = DimNode::Kind;

/// A number comes last, else the older node first.
bool precedes(Dim a, Dim b) {
  if (a.is_number() != b.is_number()) return b.is_number();
  return !a.is_number() && a.node()->id < b.node()->id;
}

constexpr size_t kMostNested = 8;

/// The operands of nested nodes of that kind, as far as there are not too many.
void collect_parts(Kind kind, Dim d, std::vector<Dim>& out) {
  const DimNode* const node = d.node();
  if (!node || node->kind != kind || out.size() >= kMostNested) {
    out.push_back(d);
    return;
  }
  for (Dim part : node->operands) collect_parts(kind, part, out);
}

/// Leaves out what another part is never after.
void drop_outdone(Kind kind, std::vector<Dim>& parts) {
  for (size_t i = 0; i < parts.size(); ++i)
    for (size_t k = parts.size(); k-- > 0;) {
      if (k == i) continue;
      const Interval d = difference(parts[i], parts[k]);
      if (kind == Kind::min ? d.upper > 0 : d.lower < 0) continue;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(k));
      if (k < i) --i;
    }
}

/// One form for a set of sizes, however they were nested.
Dim extreme(Kind kind, Dim a, Dim b) {
  if (a.is_overflow() || b.is_overflow()) return DimAlgebra::overflow();
  if (a.is_number() && b.is_number()) return (a.value() < b.value()) == (kind == Kind::min) ? a : b;  // their difference may not fit
  const Interval d = difference(a, b);
  if (d.upper <= 0) return kind == Kind::min ? a : b;
  if (d.lower >= 0) return kind == Kind::min ? b : a;
  std::vector<Dim> parts;
  collect_parts(kind, a, parts);
  collect_parts(kind, b, parts);
  drop_outdone(kind, parts);
  std::ranges::sort(parts, precedes);
  Dim out = parts[0];
  for (size_t k = 1; k < parts.size(); ++k) out = DimAlgebra::atom(DimAlgebra::symbols_of(out, parts[k]), kind, {out, parts[k]});
  return out;
}

/// d written as left - right, both with positive coefficients only.
std::pair<Poly, Poly> sides_of(const Poly& d) {
  Poly left, right;
  for (const DimNode::Term& term : d) {
    if (term.coefficient > 0) left.push_back(term);
    else right.push_back({-term.coefficient, term.factors});
  }
  return {std::move(left), std::move(right)};
}

Dim comparison_atom(Symbols* symbols, Kind kind, const Poly& d) {
  auto [left, right] = sides_of(d);
  return DimAlgebra::atom(symbols, kind, {DimAlgebra::dim_of(symbols, std::move(left)), DimAlgebra::dim_of(symbols, std::move(right))});
}

std::optional<Poly> difference_poly(Dim a, Dim b) { return add(poly_of(a), poly_of(b), -1); }

std::optional<bool> decide_zero(const Poly& d) {
  if (d.empty()) return true;
  const int64_t g = content_of(d);
  if (g == 0 || constant_of(d) % g != 0) return false;
  const Interval bounds = interval_of(d);
  if (bounds.lower > 0 || bounds.upper < 0) return false;
  if (bounds.lower == 0 && bounds.upper == 0) return true;
  return std::nullopt;
}

}  // namespace

Dim min(Dim a, Dim b) { return extreme(Kind::min, a, b); }
Dim max(Dim a, Dim b) { return extreme(Kind::max, a, b); }

Dim less_than(Dim a, Dim b) {
  if (a.is_overflow() || b.is_overflow()) return DimAlgebra::overflow();
  auto d = difference_poly(a, b);
  if (!d) return DimAlgebra::overflow();
  const Interval bounds = interval_of(*d);
  if (bounds.upper < 0) return 1;
  if (bounds.lower >= 0) return 0;
  const int64_t g = content_of(*d);
  for (DimNode::Term& term : *d) term.coefficient = floor_div(term.coefficient, g);  // g*p + c < 0  <=>  p + floor(c/g) < 0
  if (d->back().coefficient == 0) d->pop_back();
  const Interval reduced = interval_of(*d);  // may be tighter: the constant was rounded down
  if (reduced.upper < 0) return 1;
  if (reduced.lower >= 0) return 0;
  return comparison_atom(DimAlgebra::symbols_of(a, b), Kind::less, *d);
}

Dim equal_to(Dim a, Dim b) {
  if (a.is_overflow() || b.is_overflow()) return DimAlgebra::overflow();
  auto d = difference_poly(a, b);
  if (!d) return DimAlgebra::overflow();
  if (const auto known = decide_zero(*d)) return *known ? 1 : 0;
  const int64_t g = d->front().coefficient < 0 ? -content_of(*d) : content_of(*d);
  for (DimNode::Term& term : *d) term.coefficient /= g;
  return comparison_atom(DimAlgebra::symbols_of(a, b), Kind::equal, *d);
}

Dim select(Dim condition, Dim a, Dim b) {
  if (condition.is_overflow() || a.is_overflow() || b.is_overflow()) return DimAlgebra::overflow();
  if (condition.lower() > 0 || condition.upper() < 0) return a;
  if (condition == Dim(0)) return b;
  if (a == b) return a;
  const DimNode* node = condition.node();
  if (node->kind == Kind::less || node->kind == Kind::equal) {
    const Dim tested = node->operands[0] - node->operands[1];
    const bool along = tested == a - b, against = tested == b - a;
    if (node->kind == Kind::less && along) return min(a, b);
    if (node->kind == Kind::less && against) return max(a, b);
    if (node->kind == Kind::equal && (along || against)) return b;
  }
  return DimAlgebra::atom(DimAlgebra::symbols_of(condition, a, b), Kind::select, {condition, a, b});
}

std::optional<bool> Dim::equals(Dim other) const {
  if (is_overflow() || other.is_overflow()) return false;
  if (*this == other) return true;
  if (is_number() && other.is_number()) return false;
  const auto d = difference_poly(*this, other);
  return d ? decide_zero(*d) : std::nullopt;
}

std::optional<bool> Dim::less(Dim other) const {
  if (is_overflow() || other.is_overflow()) return std::nullopt;
  if (is_number() && other.is_number()) return value() < other.value();
  const Interval d = difference(*this, other);
  if (d.upper < 0) return true;
  if (d.lower >= 0) return false;
  return std::nullopt;
}

}  // namespace tenon::inline base
