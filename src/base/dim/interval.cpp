// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/dim/algebra.h"

namespace tenon::inline base {
namespace {

using Wide = __int128;
constexpr Interval kAll = {-kUnbounded, kUnbounded};

int64_t clamp(Wide value) { return static_cast<int64_t>(std::clamp<Wide>(value, -kUnbounded, kUnbounded)); }

Interval sum(Interval a, Interval b) {
  const bool open_below = a.lower == -kUnbounded || b.lower == -kUnbounded;
  const bool open_above = a.upper == kUnbounded || b.upper == kUnbounded;
  return {open_below ? -kUnbounded : clamp(Wide{a.lower} + b.lower), open_above ? kUnbounded : clamp(Wide{a.upper} + b.upper)};
}

Interval product(Interval a, Interval b) {
  const Wide ends[] = {Wide{a.lower} * b.lower, Wide{a.lower} * b.upper, Wide{a.upper} * b.lower, Wide{a.upper} * b.upper};
  return {clamp(*std::min_element(ends, ends + 4)), clamp(*std::max_element(ends, ends + 4))};
}

Interval meet(Interval a, Interval b) { return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)}; }
Interval hull(Interval a, Interval b) { return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)}; }

/// Each term on its own.
Interval plain(const Poly& p) {
  Interval total = {0, 0};
  for (const DimNode::Term& term : p) {
    Interval part = {term.coefficient, term.coefficient};
    for (const DimNode* factor : term.factors) part = product(part, {factor->lower, factor->upper});
    total = sum(total, part);
  }
  return total;
}

int64_t divided(int64_t bound, int64_t by, bool up) {
  if (bound == kUnbounded || bound == -kUnbounded) return bound;
  return up ? ceil_div(bound, by) : floor_div(bound, by);
}

const DimNode* only_factor(const DimNode::Term& term) { return term.factors.size() == 1 ? term.factors[0] : nullptr; }

bool divides_by_number(const DimNode& node) {
  return node.kind == DimNode::Kind::floor_div && node.operands[1].is_number() && node.operands[1].value() > 0 &&
         node.operands[1].value() < (int64_t{1} << 20);
}

Interval bounds(const Poly& p, int depth);

/// A division correlates with its dividend: k * floordiv(p, k) lies in [p - k + 1, p]. Both ends of the polynomial, times `scale`,
/// with all divisions by numbers replaced in this way.
Interval without_divisions(const Poly& p, int depth) {
  int64_t scale = 1;
  for (const DimNode::Term& term : p) {
    const DimNode* factor = only_factor(term);
    if (factor && divides_by_number(*factor)) scale = std::lcm(scale, factor->operands[1].value());
    if (scale > int64_t{1} << 30) return kAll;
  }
  if (scale == 1) return kAll;
  std::optional<Poly> low = Poly{}, high = Poly{};
  for (const DimNode::Term& term : p) {
    const DimNode* factor = only_factor(term);
    if (!factor || !divides_by_number(*factor)) {
      low = add(*low, {term}, scale);
      if (low) high = add(*high, {term}, scale);
    } else {
      const int64_t k = factor->operands[1].value();
      const auto c = checked_mul(term.coefficient, scale / k);
      const Poly dividend = poly_of(factor->operands[0]);
      const auto reduced = add(dividend, poly_of(k - 1), -1);
      if (!c || !reduced) return kAll;
      low = add(*low, *c > 0 ? *reduced : dividend, *c);
      if (low) high = add(*high, *c > 0 ? dividend : *reduced, *c);
    }
    if (!low || !high) return kAll;
  }
  return {divided(bounds(*low, depth - 1).lower, scale, true), divided(bounds(*high, depth - 1).upper, scale, false)};
}

/// min, max and select are one of their operands: bounds of `p` with the factor of term `index` replaced.
Interval without_choice(const Poly& p, size_t index, int depth) {
  const DimNode& choice = *p[index].factors[0];
  const int64_t c = p[index].coefficient;
  Poly rest = p;
  rest.erase(rest.begin() + static_cast<ptrdiff_t>(index));
  const size_t first = choice.kind == DimNode::Kind::select ? 1 : 0;
  const auto a = add(rest, poly_of(choice.operands[first]), c);
  const auto b = add(rest, poly_of(choice.operands[first + 1]), c);
  if (!a || !b) return kAll;
  const Interval with_a = bounds(*a, depth - 1), with_b = bounds(*b, depth - 1);
  Interval both = hull(with_a, with_b);
  // max(a, b) >= a and >= b: here both lower bounds hold; so for the upper ones of min, and the other way round where c < 0.
  if (choice.kind != DimNode::Kind::select) {
    const bool larger = (choice.kind == DimNode::Kind::max) == (c > 0);
    if (larger) both.lower = std::max(with_a.lower, with_b.lower);
    if (!larger) both.upper = std::min(with_a.upper, with_b.upper);
  }
  return both;
}

Interval bounds(const Poly& p, int depth) {
  Interval found = plain(p);
  if (depth == 0 || p.size() > 32) return found;
  found = meet(found, without_divisions(p, depth));
  int choices = 0;
  for (size_t i = 0; i < p.size() && choices < 2; ++i) {
    const DimNode* factor = only_factor(p[i]);
    if (!factor) continue;
    const auto kind = factor->kind;
    if (kind != DimNode::Kind::min && kind != DimNode::Kind::max && kind != DimNode::Kind::select) continue;
    ++choices;
    found = meet(found, without_choice(p, i, depth));
  }
  return found;
}

Interval quotient(Interval a, Interval b) {
  if (b.lower <= 0 && b.upper >= 0) {
    // |a / b| <= |a|; with b = 0 there is no value, and 0 represents it.
    if (b.lower >= 0) return {std::min<int64_t>(a.lower, 0), std::max<int64_t>(a.upper, 0)};
    const int64_t most = std::max({a.upper, -a.lower, int64_t{0}});
    return {-most, most};
  }
  const int64_t ends[] = {floor_div(a.lower, b.lower), floor_div(a.lower, b.upper), floor_div(a.upper, b.lower),
                          floor_div(a.upper, b.upper)};
  Interval out = {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
  const bool open_below = b.lower > 0 ? a.lower == -kUnbounded : a.upper == kUnbounded;
  const bool open_above = b.lower > 0 ? a.upper == kUnbounded : a.lower == -kUnbounded;
  if (open_below) out.lower = -kUnbounded;
  if (open_above) out.upper = kUnbounded;
  return out;
}

}  // namespace

Interval interval_of(const Poly& p) { return bounds(p, 3); }

Interval interval_of(Dim dim) { return {dim.lower(), dim.upper()}; }

Interval interval_of(const DimNode& node) {
  using Kind = DimNode::Kind;
  const auto operand = [&](size_t i) { return interval_of(node.operands[i]); };
  switch (node.kind) {
    case Kind::polynomial: return interval_of(node.terms);
    case Kind::floor_div: return quotient(operand(0), operand(1));
    case Kind::min: return {std::min(operand(0).lower, operand(1).lower), std::min(operand(0).upper, operand(1).upper)};
    case Kind::max: return {std::max(operand(0).lower, operand(1).lower), std::max(operand(0).upper, operand(1).upper)};
    case Kind::select: return hull(operand(1), operand(2));
    case Kind::less:
    case Kind::equal: return {0, 1};
    case Kind::symbol: return {node.lower, node.upper};
    case Kind::overflow: break;
  }
  return kAll;
}

Interval difference(Dim a, Dim b) {
  const auto d = add(poly_of(a), poly_of(b), -1);
  return d ? interval_of(*d) : kAll;
}

}  // namespace tenon::inline base
