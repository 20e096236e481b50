// SPDX-License-Identifier: Apache-2.0
#include "base/expr/linear.h"

#include <algorithm>

namespace tenon::inline base {
namespace {

constexpr int64_t kLargest = int64_t{1} << 61;

Linear term_of(const Expr& e) { return {{{e, 1}}, 0}; }

Linear product_of(const Expr& e) {
  Linear a = linear_of(e->args[0]), b = linear_of(e->args[1]);
  if (!b.is_constant()) std::swap(a, b);
  if (!b.is_constant()) return term_of(e);
  Linear out;
  out.add(a, b.offset);
  return out;
}

Expr scaled(const Expr& term, Dim coefficient) { return coefficient == Dim(1) ? term : term * Expr::dim(coefficient); }

Dim negated(Dim d) { return 0 - d; }

/// Written with a minus: -3, or -2*seq.
bool leads_negative(Dim d) {
  if (d.is_number()) return d.value() < 0;
  const DimNode& node = *d.node();
  return node.kind == DimNode::Kind::polynomial && node.terms[0].coefficient < 0;
}

void append(Expr& total, const Expr& part, bool minus) {
  if (!total.get()) total = minus ? -part : part;
  else total = minus ? total - part : total + part;
}

ExprRange scaled(ExprRange range, Dim by) {
  const auto times = [&](const std::optional<Dim>& end) { return end ? std::optional(*end * by) : std::nullopt; };
  if (by.lower() >= 0) return {times(range.lower), times(range.upper)};
  if (by.upper() <= 0) return {times(range.upper), times(range.lower)};
  return {};
}

/// mod, rem and div by something positive.
ExprRange division_range(const Expr& e, std::span<const Dim> extents) {
  const ExprRange by = range_of(e->args[1], extents);
  if (!known_at_most(Dim(1), by.lower)) return {};
  if (e.op() == ExprOp::mod) return {Dim(0), by.upper ? std::optional(*by.upper - 1) : std::nullopt};
  const ExprRange range = range_of(e->args[0], extents);
  if (!known_at_most(Dim(0), range.lower)) return {};
  if (e.op() == ExprOp::div) return {Dim(0), range.upper ? std::optional(floor_div(*range.upper, *by.lower)) : std::nullopt};
  return {Dim(0), by.upper ? std::optional(*by.upper - 1) : range.upper};
}

ExprRange extreme_range(const Expr& e, std::span<const Dim> extents) {
  const ExprRange a = range_of(e->args[0], extents), b = range_of(e->args[1], extents);
  const auto both = [&](const std::optional<Dim>& x, const std::optional<Dim>& y) -> std::optional<Dim> {
    if (!x || !y) return std::nullopt;
    return e.op() == ExprOp::min ? min(*x, *y) : max(*x, *y);
  };
  const auto either = [&](const std::optional<Dim>& x, const std::optional<Dim>& y) { return x && y ? both(x, y) : x ? x : y; };
  if (e.op() == ExprOp::min) return {both(a.lower, b.lower), either(a.upper, b.upper)};
  return {either(a.lower, b.lower), both(a.upper, b.upper)};
}

}  // namespace

void Linear::add(const Linear& other, Dim factor) {
  for (const auto& [term, coefficient] : other.terms) {
    const auto at = std::find_if(terms.begin(), terms.end(), [&](const auto& mine) { return same(mine.first, term); });
    if (at == terms.end()) terms.emplace_back(term, coefficient * factor);
    else at->second = at->second + coefficient * factor;
  }
  offset = offset + other.offset * factor;
  std::erase_if(terms, [](const auto& term) { return term.second == Dim(0); });
}

bool Linear::overflowed() const {
  return offset.is_overflow() || std::any_of(terms.begin(), terms.end(), [](const auto& term) { return term.second.is_overflow(); });
}

Linear linear_of(const Expr& e) {
  switch (e.op()) {
    case ExprOp::constant:
      if (e->int_value >= kLargest || e->int_value <= -kLargest) return term_of(e);
      return {{}, e->int_value};
    case ExprOp::dim: return {{}, e->size};
    case ExprOp::neg:
    case ExprOp::add:
    case ExprOp::sub: {
      Linear out;
      for (size_t i = 0; i < e->args.size(); ++i) {
        const bool minus = e.op() == ExprOp::neg || (e.op() == ExprOp::sub && i == 1);
        out.add(linear_of(e->args[i]), minus ? -1 : 1);
      }
      return out.overflowed() ? term_of(e) : out;
    }
    case ExprOp::mul: {
      Linear out = product_of(e);
      return out.overflowed() ? term_of(e) : out;
    }
    default: return term_of(e);
  }
}

Expr expr_of(const Linear& sum) {
  std::vector<std::pair<Expr, Dim>> terms, others;
  for (const auto& term : sum.terms) (term.first.op() == ExprOp::axis ? terms : others).push_back(term);
  std::sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.first->index < b.first->index; });
  terms.insert(terms.end(), others.begin(), others.end());
  Expr total;
  for (const auto& [term, coefficient] : terms) {
    const bool minus = leads_negative(coefficient);
    append(total, scaled(term, minus ? negated(coefficient) : coefficient), minus);
  }
  if (!total.get()) return Expr::dim(sum.offset);
  if (sum.offset == Dim(0)) return total;
  const bool minus = leads_negative(sum.offset);
  append(total, Expr::dim(minus ? negated(sum.offset) : sum.offset), minus);
  return total;
}

ExprRange range_of(const Linear& sum, std::span<const Dim> extents) {
  ExprRange total = {sum.offset, sum.offset};
  for (const auto& [term, coefficient] : sum.terms) {
    const ExprRange part = scaled(range_of(term, extents), coefficient);
    total.lower = total.lower && part.lower ? std::optional(*total.lower + *part.lower) : std::nullopt;
    total.upper = total.upper && part.upper ? std::optional(*total.upper + *part.upper) : std::nullopt;
  }
  return total;
}

ExprRange range_of(const Expr& e, std::span<const Dim> extents) {
  switch (e.op()) {
    case ExprOp::axis: {
      const auto index = static_cast<size_t>(e->index);
      return {Dim(0), index < extents.size() ? std::optional(extents[index] - 1) : std::nullopt};
    }
    case ExprOp::div:
    case ExprOp::mod:
    case ExprOp::rem: return division_range(e, extents);
    case ExprOp::min:
    case ExprOp::max: return extreme_range(e, extents);
    case ExprOp::constant:
    case ExprOp::dim:
    case ExprOp::neg:
    case ExprOp::add:
    case ExprOp::sub:
    case ExprOp::mul: {
      const Linear sum = linear_of(e);
      if (sum.terms.size() == 1 && sum.terms[0].first.get() == e.get()) return {};
      return range_of(sum, extents);
    }
    default: return {};
  }
}

}  // namespace tenon::inline base
