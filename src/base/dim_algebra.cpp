// SPDX-License-Identifier: Apache-2.0
#include "base/dim_algebra.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "base/checked.h"
#include "base/hash.h"
#include "base/result.h"

namespace tenon::inline base {
namespace {

constexpr size_t kMostTerms = 512;
constexpr uint32_t kMostParts = 4096;

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

uint32_t weight_of(const DimNode& node) {
  uint64_t weight = 1;
  for (const DimNode::Term& term : node.terms) {
    weight += 1;
    for (const DimNode* factor : term.factors) weight += factor->weight;
  }
  for (Dim operand : node.operands) weight += operand.node() ? operand.node()->weight : 1;
  return static_cast<uint32_t>(std::min<uint64_t>(weight, kMostParts + 1));
}

/// A node of nothing but its kind.
DimNode bare_node(DimNode::Kind kind, Symbols* symbols, int64_t lower, int64_t upper) {
  return {.kind = kind, .symbols = symbols, .id = 0, .lower = lower, .upper = upper, .weight = 1, .name = {}, .terms = {}, .operands = {}};
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

size_t DimNodeHash::operator()(const DimNode* node) const {
  size_t h = mix(static_cast<size_t>(node->kind) + 1, std::hash<std::string>{}(node->name));
  for (const DimNode::Term& term : node->terms) {
    h = mix(h, static_cast<size_t>(term.coefficient));
    for (const DimNode* factor : term.factors) h = mix(h, factor->id);
  }
  for (Dim operand : node->operands) h = mix(h, operand.hash());
  return h;
}

bool DimNodeEqual::operator()(const DimNode* a, const DimNode* b) const {
  if (a->kind != b->kind || a->name != b->name || a->operands != b->operands || a->terms.size() != b->terms.size()) return false;
  return std::equal(a->terms.begin(), a->terms.end(), b->terms.begin(),
                    [](const DimNode::Term& x, const DimNode::Term& y) { return x.coefficient == y.coefficient && same_monomial(x, y); });
}

Dim DimAlgebra::overflow() {
  static const DimNode node = bare_node(DimNode::Kind::overflow, nullptr, -kUnbounded, kUnbounded);
  return Dim(&node);
}

Symbols* DimAlgebra::symbols_of(Dim a, Dim b, Dim c) {
  Symbols* found = nullptr;
  for (Dim dim : {a, b, c}) {
    if (dim.is_number() || dim.is_overflow()) continue;
    TENON_ASSERT(found == nullptr || found == dim.node()->symbols);
    found = dim.node()->symbols;
  }
  return found;
}

const DimNode* DimAlgebra::intern(Symbols* symbols, DimNode candidate) {
  Symbols::State& state = *symbols->state_;
  if (const auto found = state.interned.find(&candidate); found != state.interned.end()) return *found;
  candidate.weight = weight_of(candidate);
  if (candidate.weight > kMostParts) return overflow().node();
  candidate.symbols = symbols;
  candidate.id = static_cast<uint32_t>(state.nodes.size()) + 1;
  if (candidate.kind != DimNode::Kind::symbol) {
    const Interval bounds = interval_of(candidate);
    candidate.lower = bounds.lower;
    candidate.upper = bounds.upper;
  }
  const DimNode* node = &state.nodes.emplace_back(std::move(candidate));
  state.interned.insert(node);
  return node;
}

Dim DimAlgebra::dim_of(Symbols* symbols, Poly poly) {
  if (poly.empty()) return 0;
  if (poly.size() == 1 && poly[0].factors.empty()) return Dim(poly[0].coefficient);
  if (poly.size() == 1 && poly[0].coefficient == 1 && poly[0].factors.size() == 1) return Dim(poly[0].factors[0]);
  DimNode candidate = bare_node(DimNode::Kind::polynomial, symbols, 0, 0);
  candidate.terms = std::move(poly);
  return Dim(intern(symbols, std::move(candidate)));
}

Dim DimAlgebra::atom(Symbols* symbols, DimNode::Kind kind, std::vector<Dim> operands) {
  DimNode candidate = bare_node(kind, symbols, 0, 0);
  candidate.operands = std::move(operands);
  return Dim(intern(symbols, std::move(candidate)));
}

void DimAlgebra::refresh(Symbols::State& state) {
  for (DimNode& node : state.nodes) {
    if (node.kind == DimNode::Kind::symbol) continue;
    const Interval bounds = interval_of(node);
    node.lower = std::max(node.lower, bounds.lower);
    node.upper = std::min(node.upper, bounds.upper);
  }
}

}  // namespace tenon::inline base
