// SPDX-License-Identifier: Apache-2.0
#include "base/dim/dim.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/checked.h"
#include "base/dim/algebra.h"
#include "base/result.h"

namespace tenon::inline base {
namespace {

Dim from(std::optional<Poly> poly, Dim a, Dim b) {
  if (!poly) return DimAlgebra::overflow();
  return DimAlgebra::dim_of(DimAlgebra::symbols_of(a, b), *std::move(poly));
}

/// The cached result of an operation; compute() where the cache lacks it. At least one operand is symbolic.
template <class Compute>
Dim remembered(char operation, Dim a, Dim b, Compute compute) {
  constexpr size_t kMemos = 256;
  std::vector<DimMemo>& memo = DimAlgebra::state_of(DimAlgebra::symbols_of(a, b)).memo;
  if (memo.empty()) memo.resize(kMemos);
  const uint64_t mixed = (a.hash() * 31 + b.hash() + static_cast<uint64_t>(operation)) * 0x9e3779b97f4a7c15u;
  DimMemo& m = memo[mixed >> 56];
  if (m.operation == operation && m.a == a && m.b == b) return m.result;
  const Dim result = compute();
  m = {a, b, result, operation};
  return result;
}

Dim from_number(std::optional<int64_t> value) {
  return value && *value > -kUnbounded && *value < kUnbounded ? Dim(*value) : DimAlgebra::overflow();
}

}  // namespace

bool Dim::is_overflow() const { return !is_number() && node()->kind == DimNode::Kind::overflow; }
int64_t Dim::lower() const { return is_number() ? value() : node()->lower; }
int64_t Dim::upper() const { return is_number() ? value() : node()->upper; }

Dim operator+(Dim a, Dim b) {
  if (a.is_number() && b.is_number()) return from_number(checked_add(a.value(), b.value()));
  if (a.is_overflow() || b.is_overflow()) return DimAlgebra::overflow();
  return remembered('+', a, b, [&] { return from(add(poly_of(a), poly_of(b)), a, b); });
}

Dim operator-(Dim a, Dim b) {
  if (a.is_number() && b.is_number()) return from_number(checked_sub(a.value(), b.value()));
  if (a.is_overflow() || b.is_overflow()) return DimAlgebra::overflow();
  return remembered('-', a, b, [&] { return from(add(poly_of(a), poly_of(b), -1), a, b); });
}

Dim operator*(Dim a, Dim b) {
  if (a.is_number() && b.is_number()) return from_number(checked_mul(a.value(), b.value()));
  if (a.is_overflow() || b.is_overflow()) return DimAlgebra::overflow();
  return remembered('*', a, b, [&] { return from(multiply(poly_of(a), poly_of(b)), a, b); });
}

Dim product(const DimList& dims) {
  Dim total = 1;
  for (Dim dim : dims) total = total * dim;
  return total;
}

Symbols::Symbols() : state_(std::make_unique<State>()) {}
Symbols::~Symbols() = default;

const std::vector<Dim>& Symbols::all() const { return state_->all; }

Dim Symbols::symbol(std::string_view name, int64_t lower, int64_t upper) {
  lower = std::max(lower, -kUnbounded);
  upper = std::min(upper, kUnbounded);
  if (const auto found = state_->by_name.find(std::string(name)); found != state_->by_name.end()) {
    DimNode& node = *const_cast<DimNode*>(found->second.node());
    const int64_t narrow_lower = std::max(node.lower, lower), narrow_upper = std::min(node.upper, upper);
    const bool narrower = narrow_lower > node.lower || narrow_upper < node.upper;
    if (narrower && narrow_lower <= narrow_upper) {  // bounds that contradict each other are left to the guards at run time
      node.lower = narrow_lower;
      node.upper = narrow_upper;
      DimAlgebra::refresh(*state_);
    }
    return found->second;
  }
  DimNode candidate{.kind = DimNode::Kind::symbol,
                    .symbols = this,
                    .id = 0,
                    .lower = lower,
                    .upper = upper,
                    .weight = 1,
                    .name = std::string(name),
                    .terms = {},
                    .operands = {}};
  const Dim made(DimAlgebra::intern(this, std::move(candidate)));
  state_->by_name.emplace(std::string(name), made);
  state_->all.push_back(made);
  return made;
}

Dim Symbols::fresh(std::string_view prefix, int64_t lower, int64_t upper) {
  std::string name;
  do { name = std::string(prefix) + std::to_string(state_->next_fresh++); } while (state_->by_name.contains(name));
  return symbol(name, lower, upper);
}

namespace {

struct Substitution {
  const std::function<Dim(const DimNode&)>& value_of;
  std::unordered_map<const DimNode*, Dim> done;

  Dim of(Dim dim) {
    const DimNode* node = dim.node();
    if (!node || node->kind == DimNode::Kind::overflow) return dim;
    if (const auto found = done.find(node); found != done.end()) return found->second;
    const Dim result = rebuilt(*node);
    done.emplace(node, result);
    return result;
  }

  Dim polynomial(const DimNode& node) {
    Dim total = 0;
    for (const DimNode::Term& term : node.terms) {
      Dim part = term.coefficient;
      for (const DimNode* factor : term.factors) part = part * of(DimAlgebra::dim_of(factor));
      total = total + part;
    }
    return total;
  }

  Dim rebuilt(const DimNode& node) {
    using Kind = DimNode::Kind;
    const auto operand = [&](size_t i) { return of(node.operands[i]); };
    switch (node.kind) {
      case Kind::symbol: return value_of(node);
      case Kind::polynomial: return polynomial(node);
      case Kind::floor_div: return floor_div(operand(0), operand(1));
      case Kind::min: return min(operand(0), operand(1));
      case Kind::max: return max(operand(0), operand(1));
      case Kind::select: return select(operand(0), operand(1), operand(2));
      case Kind::less: return less_than(operand(0), operand(1));
      case Kind::equal: return equal_to(operand(0), operand(1));
      case Kind::overflow: break;
    }
    return DimAlgebra::overflow();
  }
};

/// The nodes that were visited: most sizes have a few, for which a hash set costs more than it saves.
class VisitedNodes {
 public:
  /// Whether the node was not there.
  bool insert(const DimNode* node) {
    if (std::ranges::find(few_, node) != few_.end()) return false;
    if (few_.size() == kFew) return more_.insert(node).second;
    few_.push_back(node);
    return true;
  }

 private:
  static constexpr size_t kFew = 16;
  std::vector<const DimNode*> few_;
  std::unordered_set<const DimNode*> more_;
};

void visit_symbols(Dim dim, const std::function<void(const DimNode&)>& visit, VisitedNodes& visited) {
  const DimNode* node = dim.node();
  if (!node || !visited.insert(node)) return;
  if (node->kind == DimNode::Kind::symbol) visit(*node);
  for (const DimNode::Term& term : node->terms) {
    for (const DimNode* factor : term.factors) visit_symbols(DimAlgebra::dim_of(factor), visit, visited);
  }
  for (Dim operand : node->operands) visit_symbols(operand, visit, visited);
}

}  // namespace

Dim substitute(Dim dim, const std::function<Dim(const DimNode& symbol)>& value_of) { return Substitution{value_of, {}}.of(dim); }

void each_symbol(Dim dim, const std::function<void(const DimNode& symbol)>& visit) {
  VisitedNodes visited;
  visit_symbols(dim, visit, visited);
}

}  // namespace tenon::inline base
