// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/bounds.h"

#include <algorithm>

#include "base/expr/linear.h"

namespace tenon::codegen {

namespace {

using Kind = ir::Assumption::Kind;

bool is_symbol(Dim d) { return d.node() && d.node()->kind == DimNode::Kind::symbol; }

std::vector<const DimNode*> symbols_of(Dim d) {
  std::vector<const DimNode*> symbols;
  each_symbol(d, [&](const DimNode& s) { symbols.push_back(&s); });
  return symbols;
}

bool have_common_symbol(const std::vector<const DimNode*>& a, const std::vector<const DimNode*>& b) {
  return std::ranges::any_of(a, [&](const DimNode* s) { return std::ranges::find(b, s) != b.end(); });
}

/// The first `select` among the factors of the polynomial; null where there is none.
const DimNode* select_in(Dim d) {
  if (!d.node()) return nullptr;
  if (d.node()->kind == DimNode::Kind::select) return d.node();
  for (const DimNode::Term& term : d.node()->terms)
    for (const DimNode* factor : term.factors)
      if (factor->kind == DimNode::Kind::select) return factor;
  return nullptr;
}

/// The polynomial with `factor` replaced by `value`.
Dim with_factor(Dim d, const DimNode* factor, Dim value) {
  if (d.node() == factor) return value;
  Dim sum = 0;
  for (const DimNode::Term& term : d.node()->terms) {
    Dim part = term.coefficient;
    for (const DimNode* f : term.factors) part = part * (f == factor ? value : Dim::of(f));
    sum = sum + part;
  }
  return sum;
}

/// Appends to `holds` expressions that are at least 0 where the condition holds: differences of the operands of its comparisons.
void collect_nonnegative(const Expr& condition, std::vector<Expr>& holds) {
  if (!condition) return;
  if (condition.op() == ExprOp::logical_and)
    for (const Expr& e : condition.args()) collect_nonnegative(e, holds);
  const bool integers = !condition.args().empty() && condition.args()[0].dtype() == DType::i64;
  if (!integers) return;
  const Expr a = condition.args()[0], b = condition.args().back();
  if (condition.op() == ExprOp::less) holds.push_back(simplify(b - a - 1));
  if (condition.op() == ExprOp::less_equal) holds.push_back(simplify(b - a));
  if (condition.op() == ExprOp::equal) holds.insert(holds.end(), {simplify(b - a), simplify(a - b)});
}

}  // namespace

Bounds::Bounds(const Nest& nest, std::span<const ir::Assumption> assumptions) {
  for (const ops::Axis& axis : nest.axes) {
    extents_.push_back(axis.extent);
    if (!axis.extent.is_number()) add_nonnegative(axis.extent - 1);
  }
  for (const ir::Assumption& a : assumptions) {
    if (a.kind == Kind::at_least) add_nonnegative(a.a - a.b);
    else if (a.kind == Kind::equal) add_equal(a.a, a.b);
    else alternatives_.push_back(a);
  }
}

void Bounds::add_nonnegative(Dim size) {
  if (std::ranges::find(facts_, size, &Fact::size) != facts_.end()) return;
  facts_.push_back({.size = size, .canonical = size, .symbols = symbols_of(size)});
  are_canonical_ = false;
}

void Bounds::add_equal(Dim a, Dim b) {
  are_canonical_ = false;
  unproved_.clear();
  if (is_symbol(a)) equal_.emplace_back(a, b);
  else if (is_symbol(b)) equal_.emplace_back(b, a);
  else add_nonnegative(a - b), add_nonnegative(b - a);
}

const std::vector<Bounds::Fact>& Bounds::facts() const {
  if (are_canonical_) return facts_;
  for (Fact& fact : facts_) fact.canonical = canonical(fact.size);
  are_canonical_ = true;
  return facts_;
}

/// Replaces each symbol that is known to be equal to another size by that size.
Dim Bounds::canonical(Dim d) const {
  for (const auto& [symbol, other] : equal_) d = substitute(d, [&](const DimNode& s) { return &s == symbol.node() ? other : Dim::of(&s); });
  return d;
}

bool Bounds::is_known_nonnegative(Dim d, int depth) const {
  d = canonical(d);
  if (d.is_overflow()) return false;
  if (d.lower() >= 0) return true;
  if (depth == 0 || d.is_number()) return false;
  if (const auto tried = unproved_.find(d); tried != unproved_.end() && tried->second >= depth) return false;
  const bool known = follows_from_facts(d, depth);
  if (!known) unproved_[d] = depth;
  return known;
}

bool Bounds::follows_from_facts(Dim d, int depth) const {
  const std::vector<const DimNode*> symbols = symbols_of(d);
  for (size_t k = 0; k < alternatives_.size(); ++k) {
    const ir::Assumption& a = alternatives_[k];
    if (!have_common_symbol(symbols_of(a.a), symbols) && !have_common_symbol(symbols_of(a.b), symbols)) continue;
    std::vector<std::pair<Dim, Dim>> cases{{a.a, a.b}, {a.a, 1}};
    if (a.kind == Kind::broadcast) cases.emplace_back(a.b, 1);
    const auto holds = [&](const std::pair<Dim, Dim>& equal) {
      Bounds here = *this;
      here.alternatives_.erase(here.alternatives_.begin() + static_cast<ptrdiff_t>(k));
      here.add_equal(equal.first, equal.second);
      return here.is_known_nonnegative(d, depth - 1);
    };
    if (std::ranges::all_of(cases, holds)) return true;
  }
  if (const DimNode* choice = select_in(d))
    return is_known_nonnegative(with_factor(d, choice, choice->operands[1]), depth - 1) &&
           is_known_nonnegative(with_factor(d, choice, choice->operands[2]), depth - 1);
  return std::ranges::any_of(facts(), [&](const Fact& fact) {
    return have_common_symbol(fact.symbols, symbols) && is_known_nonnegative(d - fact.canonical, depth - 1);
  });
}

bool Bounds::is_known_nonnegative(const Expr& e, const std::vector<Expr>& holds) const {
  const auto lower = [&](const Expr& x) { return range_of(simplify(x), extents_).lower; };
  const auto known = [&](const Expr& x) {
    const auto least = lower(x);
    return least && is_known_nonnegative(*least, 3);
  };
  if (known(e)) return true;
  return std::ranges::any_of(holds, [&](const Expr& h) { return known(e - h); });
}

std::optional<bool> Bounds::inside(const Expr& index, Dim extent, const Expr& within) const {
  std::vector<Expr> holds;
  collect_nonnegative(within, holds);
  const Expr i = with_dtype(index, DType::i64);
  if (is_known_nonnegative(i, holds) && is_known_nonnegative(Expr::dim(extent) - 1 - i, holds)) return true;
  // false is proved where the nest has steps and none of them is inside.
  const ExprRange range = range_of(simplify(i), extents_);
  const bool runs = std::ranges::all_of(extents_, [](Dim d) { return d.lower() >= 1; });
  if (!within && runs && ((range.upper && range.upper->upper() < 0) || (range.lower && extent.less(*range.lower + 1).value_or(false))))
    return false;
  return std::nullopt;
}

std::string Bounds::range(const Expr& index) const {
  const ExprRange r = range_of(simplify(index), extents_);
  return (r.lower ? r.lower->text() : "?") + ".." + (r.upper ? r.upper->text() : "?");
}

}  // namespace tenon::codegen
