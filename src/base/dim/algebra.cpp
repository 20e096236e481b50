// SPDX-License-Identifier: Apache-2.0
#include "base/dim/algebra.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"
#include "base/result.h"

namespace tenon::inline base {
namespace {

constexpr size_t kMostTerms = 512;

bool fits(int64_t value) { return value > -kUnbounded && value < kUnbounded; }

bool same_monomial(const DimNode::Term& a, const DimNode::Term& b) { return a.factors == b.factors; }

/// Sorts and joins like terms.
std::optional<Poly> normal(Poly p) {
  std::sort(p.begin(), p.end(), before);
  Poly out;
  for (DimNode::Term& term : p) {
    if (out.empty() || !same_monomial(out.back(), term)) {
      if (!out.empty() && out.back().coefficient == 0) out.pop_back();
      out.push_back(std::move(term));
      continue;
    }
    const auto sum = checked_add(out.back().coefficient, term.coefficient);
    if (!sum || !fits(*sum)) return std::nullopt;
    out.back().coefficient = *sum;
  }
  if (!out.empty() && out.back().coefficient == 0) out.pop_back();
  if (out.size() > kMostTerms) return std::nullopt;
  return out;
}

}  // namespace

bool before(const DimNode::Term& a, const DimNode::Term& b) {
  if (a.factors.size() != b.factors.size()) return a.factors.size() > b.factors.size();
  for (size_t i = 0; i < a.factors.size(); ++i) {
    if (a.factors[i] != b.factors[i]) return a.factors[i]->id < b.factors[i]->id;
  }
  return false;
}

Poly poly_of(Dim dim) {
  if (dim.is_number()) return dim.value() == 0 ? Poly{} : Poly{{dim.value(), {}}};
  const DimNode* node = dim.node();
  return node->kind == DimNode::Kind::polynomial ? node->terms : Poly{{1, {node}}};
}

std::optional<Poly> add(const Poly& a, const Poly& b, int64_t factor_of_b) {
  Poly sum = a;
  sum.reserve(a.size() + b.size());
  for (const DimNode::Term& term : b) {
    const auto scaled = checked_mul(term.coefficient, factor_of_b);
    if (!scaled || !fits(*scaled)) return std::nullopt;
    sum.push_back({*scaled, term.factors});
  }
  return normal(std::move(sum));
}

std::optional<Poly> multiply(const Poly& a, const Poly& b) {
  if (a.size() * b.size() > 16 * kMostTerms) return std::nullopt;
  Poly out;
  for (const DimNode::Term& x : a) {
    for (const DimNode::Term& y : b) {
      const auto coefficient = checked_mul(x.coefficient, y.coefficient);
      if (!coefficient || !fits(*coefficient)) return std::nullopt;
      DimNode::Term term{*coefficient, x.factors};
      term.factors.insert(term.factors.end(), y.factors.begin(), y.factors.end());
      std::sort(term.factors.begin(), term.factors.end(), [](const DimNode* l, const DimNode* r) { return l->id < r->id; });
      out.push_back(std::move(term));
    }
  }
  return normal(std::move(out));
}

int64_t constant_of(const Poly& p) { return !p.empty() && p.back().factors.empty() ? p.back().coefficient : 0; }

int64_t content_of(const Poly& p) {
  int64_t g = 0;
  for (const DimNode::Term& term : p) {
    if (!term.factors.empty()) g = std::gcd(g, term.coefficient);
  }
  return g;
}

}  // namespace tenon::inline base
