// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/dim/algebra.h"
#include "base/hash.h"
#include "base/result.h"

namespace tenon::inline base {
namespace {

constexpr uint32_t kMostParts = 4096;

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
  return std::equal(a->terms.begin(), a->terms.end(), b->terms.begin(), [](const DimNode::Term& x, const DimNode::Term& y) {
    return x.coefficient == y.coefficient && x.factors == y.factors;
  });
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
