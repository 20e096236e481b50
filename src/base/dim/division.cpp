// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/dim/algebra.h"

namespace tenon::inline base {
namespace {

bool never_zero(Dim d) { return d.lower() > 0 || d.upper() < 0; }

/// The monomial of `a` without the factors of `b`; nullopt where b's are not among them. Both are sorted by id.
std::optional<std::vector<const DimNode*>> without_factors(const DimNode::Term& a, const DimNode::Term& b) {
  std::vector<const DimNode*> rest = a.factors;
  for (const DimNode* factor : b.factors) {
    const auto at = std::find(rest.begin(), rest.end(), factor);
    if (at == rest.end()) return std::nullopt;
    rest.erase(at);
  }
  return rest;
}

std::optional<DimNode::Term> term_quotient(const DimNode::Term& a, const DimNode::Term& b) {
  if (a.coefficient % b.coefficient != 0) return std::nullopt;
  auto rest = without_factors(a, b);
  if (!rest) return std::nullopt;
  return DimNode::Term{a.coefficient / b.coefficient, *std::move(rest)};
}

/// Long division; nullopt where a remainder is left.
std::optional<Poly> exact(Poly a, const Poly& b) {
  Poly q;
  for (int steps = 0; !a.empty(); ++steps) {
    auto term = steps < 600 ? term_quotient(a.front(), b.front()) : std::nullopt;
    if (!term) return std::nullopt;
    const auto taken = multiply({*term}, b);
    const auto rest = taken ? add(a, *taken, -1) : std::nullopt;
    if (!rest) return std::nullopt;
    q.push_back(*std::move(term));
    a = *rest;
  }
  return q;
}

/// p taken apart as multiples of the one-term divisor and the rest.
std::pair<Poly, Poly> split_multiples(const Poly& p, const DimNode::Term& divisor) {
  Poly multiples, rest;
  for (const DimNode::Term& term : p) {
    if (auto q = term_quotient(term, divisor)) multiples.push_back(*std::move(q));
    else rest.push_back(term);
  }
  return {std::move(multiples), std::move(rest)};
}

/// floordiv(x, m) + c with numbers m > 0 and c, as (x + c*m, m).
std::optional<std::pair<Dim, int64_t>> as_division(Symbols* symbols, const Poly& p) {
  const bool shape = !p.empty() && p.size() <= 2 && p[0].coefficient == 1 && p[0].factors.size() == 1 &&
                     p[0].factors[0]->kind == DimNode::Kind::floor_div && (p.size() == 1 || p[1].factors.empty());
  if (!shape) return std::nullopt;
  const DimNode& node = *p[0].factors[0];
  if (!node.operands[1].is_number() || node.operands[1].value() <= 0) return std::nullopt;
  const int64_t m = node.operands[1].value();
  auto moved = add(poly_of(node.operands[0]), poly_of(m), constant_of(p));
  if (!moved) return std::nullopt;
  return std::pair(DimAlgebra::dim_of(symbols, *std::move(moved)), m);
}

Dim division_atom(Symbols* symbols, const Poly& rest, int64_t k) {
  const Interval bounds = interval_of(rest);
  const bool closed = bounds.lower != -kUnbounded && bounds.upper != kUnbounded;
  if (closed && floor_div(bounds.lower, k) == floor_div(bounds.upper, k)) return floor_div(bounds.lower, k);
  if (const auto inner = as_division(symbols, rest)) {
    const auto both = checked_mul(inner->second, k);
    if (both && *both < kUnbounded) return floor_div(inner->first, Dim(*both));
  }
  return DimAlgebra::atom(symbols, DimNode::Kind::floor_div, {DimAlgebra::dim_of(symbols, rest), k});
}

/// Coefficients to [0, k), what is taken out divided by k.
std::pair<Poly, Poly> reduce_coefficients(const Poly& p, int64_t k) {
  Poly out, rest;
  for (const DimNode::Term& term : p) {
    const int64_t q = floor_div(term.coefficient, k), r = floor_mod(term.coefficient, k);
    if (q != 0) out.push_back({q, term.factors});
    if (r != 0) rest.push_back({r, term.factors});
  }
  return {std::move(out), std::move(rest)};
}

/// k > 0.
Dim divide_by_number(Symbols* symbols, const Poly& p, int64_t k) {
  auto [whole, rest] = split_multiples(p, {k, {}});
  if (rest.empty()) return DimAlgebra::dim_of(symbols, std::move(whole));
  if (!rest[0].factors.empty() && rest[0].coefficient < 0) {
    // floor(-p / k) = -floor((p + k - 1) / k): the leading coefficient stays positive, so that equal roundings meet.
    const auto mirrored = add(poly_of(k - 1), rest, -1);
    if (!mirrored) return DimAlgebra::overflow();
    return DimAlgebra::dim_of(symbols, std::move(whole)) - divide_by_number(symbols, *mirrored, k);
  }
  auto [taken, reduced] = reduce_coefficients(rest, k);
  const Dim out = DimAlgebra::dim_of(symbols, std::move(whole)) + DimAlgebra::dim_of(symbols, std::move(taken));
  const int64_t g = std::gcd(content_of(reduced), k);
  if (g == 0 || reduced.empty() || reduced[0].factors.empty()) return out;  // 0 <= constant < k is all that is left
  for (DimNode::Term& term : reduced) term.coefficient = floor_div(term.coefficient, g);
  if (reduced.back().coefficient == 0) reduced.pop_back();
  if (k == g) return out + DimAlgebra::dim_of(symbols, std::move(reduced));
  return out + division_atom(symbols, reduced, k / g);
}

/// Factors that are known to be positive and are in every term of both.
std::vector<const DimNode*> common_factors(const Poly& a, const Poly& b) {
  std::vector<const DimNode*> common;
  DimNode::Term candidate{1, {}};
  for (const DimNode* factor : b[0].factors) {
    if (factor->lower <= 0) continue;
    DimNode::Term next = candidate;
    next.factors.push_back(factor);
    const auto has = [&](const DimNode::Term& term) { return without_factors(term, next).has_value(); };
    if (std::all_of(a.begin(), a.end(), has) && std::all_of(b.begin(), b.end(), has)) candidate = next;
  }
  return candidate.factors;
}

/// Cancels a common number and common positive factors of dividend and divisor.
bool cancel(Poly& a, Poly& b) {
  int64_t g = 0;
  for (const Poly* p : {&a, &b}) {
    for (const DimNode::Term& term : *p) g = std::gcd(g, term.coefficient);
  }
  const DimNode::Term divisor{g, common_factors(a, b)};
  if (g == 1 && divisor.factors.empty()) return false;
  a = split_multiples(a, divisor).first;
  b = split_multiples(b, divisor).first;
  return true;
}

Dim divide_by_symbol(Symbols* symbols, Dim a, Dim b) {
  if (!never_zero(b)) return DimAlgebra::atom(symbols, DimNode::Kind::floor_div, {a, b});
  Poly p = poly_of(a), divisor = poly_of(b);
  if (auto q = exact(p, divisor)) return DimAlgebra::dim_of(symbols, *std::move(q));
  if (divisor.size() == 1) {
    auto [whole, rest] = split_multiples(p, divisor[0]);
    if (!whole.empty()) return DimAlgebra::dim_of(symbols, std::move(whole)) + floor_div(DimAlgebra::dim_of(symbols, std::move(rest)), b);
  }
  if (b.lower() > 0 && a.lower() >= 0 && difference(a, b).upper < 0) return 0;
  if (cancel(p, divisor)) return floor_div(DimAlgebra::dim_of(symbols, std::move(p)), DimAlgebra::dim_of(symbols, std::move(divisor)));
  const DimNode* inner = a.node();
  if (inner && inner->kind == DimNode::Kind::floor_div && inner->operands[1].lower() > 0 && b.lower() > 0) {
    return floor_div(inner->operands[0], inner->operands[1] * b);
  }
  return DimAlgebra::atom(symbols, DimNode::Kind::floor_div, {a, b});
}

}  // namespace

Dim floor_div(Dim a, Dim b) {
  if (a.is_overflow() || b.is_overflow() || b == Dim(0)) return DimAlgebra::overflow();
  if (a.is_number() && b.is_number()) return floor_div(a.value(), b.value());
  Symbols* symbols = DimAlgebra::symbols_of(a, b);
  if (!b.is_number()) return divide_by_symbol(symbols, a, b);
  if (b.value() < 0) return floor_div(-1 * a, -1 * b);
  return divide_by_number(symbols, poly_of(a), b.value());
}

Dim ceil_div(Dim a, Dim b) {
  if (b.lower() > 0) return floor_div(a + b - 1, b);
  return 0 - floor_div(0 - a, b);
}

Dim mod(Dim a, Dim b) { return a - b * floor_div(a, b); }

std::optional<Dim> exact_quotient(Dim a, Dim b) {
  if (a.is_overflow() || b.is_overflow() || b == Dim(0)) return std::nullopt;
  auto q = exact(poly_of(a), poly_of(b));
  if (!q) return std::nullopt;
  return DimAlgebra::dim_of(DimAlgebra::symbols_of(a, b), *std::move(q));
}

}  // namespace tenon::inline base
