// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/expr/evaluate.h"
#include "base/expr/linear.h"

namespace tenon::inline base {
namespace {

bool is_number(const Expr& e, double value) {
  if (e.op() != ExprOp::constant) return false;
  return is_float(e.dtype()) ? e->float_value == value && !(value == 0 && std::signbit(e->float_value))
                             : static_cast<double>(e->int_value) == value;
}

bool is_index(const Expr& e) { return e.dtype() == DType::i64 && !e->untyped; }

Expr boolean(bool value) { return Expr::integer(DType::boolean, value); }

/// Applies identities that hold for floats too (x * 1, x / 1, x - 0: exact for every x, NaN and -0 included).
Expr exact_identity(const Expr& e) {
  const auto& args = e->args;
  switch (e.op()) {
    case ExprOp::mul:
      if (is_number(args[0], 1)) return args[1];
      return is_number(args[1], 1) ? args[0] : Expr();
    case ExprOp::div: return is_number(args[1], 1) ? args[0] : Expr();
    case ExprOp::sub: return is_number(args[1], 0) ? args[0] : Expr();
    case ExprOp::min:
    case ExprOp::max: return same(args[0], args[1]) ? args[0] : Expr();
    case ExprOp::neg: return args[0].op() == ExprOp::neg ? args[0]->args[0] : Expr();
    case ExprOp::abs: return args[0].op() == ExprOp::abs ? args[0] : args[0].op() == ExprOp::neg ? abs(args[0]->args[0]) : Expr();
    case ExprOp::cast: return args[0].dtype() == e.dtype() ? args[0] : Expr();
    case ExprOp::select:
      if (args[0].op() == ExprOp::constant) return args[0]->int_value != 0 ? args[1] : args[2];
      return same(args[1], args[2]) ? args[1] : Expr();
    default: return {};
  }
}

Expr logic_identity(const Expr& e) {
  const auto& args = e->args;
  if (e.op() == ExprOp::logical_not) return args[0].op() == ExprOp::logical_not ? args[0]->args[0] : Expr();
  if (e.op() != ExprOp::logical_and && e.op() != ExprOp::logical_or) return {};
  const double keeps = e.op() == ExprOp::logical_and ? 1 : 0;  // the operand that changes nothing; the other number decides
  for (size_t i = 0; i < 2; ++i) {
    if (is_number(args[i], keeps)) return args[1 - i];
    if (is_number(args[i], 1 - keeps)) return args[i];
  }
  return same(args[0], args[1]) ? args[0] : Expr();
}

Expr integer_identity(const Expr& e) {
  const auto& args = e->args;
  const Expr zero = Expr::integer(e.dtype(), 0);
  switch (e.op()) {
    case ExprOp::add:
      if (is_number(args[0], 0)) return args[1];
      return is_number(args[1], 0) ? args[0] : Expr();
    case ExprOp::sub: return same(args[0], args[1]) ? zero : Expr();
    case ExprOp::mul: return is_number(args[0], 0) || is_number(args[1], 0) ? zero : Expr();
    case ExprOp::div: return is_number(args[0], 0) || is_number(args[1], 0) ? zero : Expr();
    case ExprOp::mod:
    case ExprOp::rem: return is_number(args[0], 0) || is_number(args[1], 0) || is_number(args[1], 1) ? zero : Expr();
    case ExprOp::floor:
    case ExprOp::ceil:
    case ExprOp::round_even:
    case ExprOp::trunc: return args[0];
    default: return {};
  }
}

Expr folded(const Expr& e) {
  Scalar values[3];
  for (size_t i = 0; i < e->args.size(); ++i) {
    if (e->args[i].op() != ExprOp::constant) return {};
    values[i] = {e->args[i]->float_value, e->args[i]->int_value};
  }
  const Scalar result = apply(e.op(), e->args.back().dtype(), e.dtype(), values[0], values[1], values[2], true);
  return is_float(e.dtype()) ? Expr::constant(e.dtype(), result.number) : Expr::integer(e.dtype(), result.integer);
}

class Simplifier {
 public:
  explicit Simplifier(std::span<const Dim> extents) : extents_(extents) {}

  Expr of(const Expr& e) {
    if (e.op() == ExprOp::dim && e->size.is_number()) return Expr::dim(e->size);
    if (e->args.empty()) return e;
    if (const auto found = done_.find(e.get()); found != done_.end()) return found->second.second;
    std::vector<Expr> args;
    bool changed = false;
    for (const Expr& arg : e.args()) {
      args.push_back(of(arg));
      changed |= args.back().get() != arg.get();
    }
    Expr result = one(changed ? Expr::make(e.op(), e.dtype(), std::move(args)) : e);
    done_.emplace(e.get(), std::pair(e, result));
    return result;
  }

 private:
  /// `e` with simplified operands.
  Expr one(const Expr& e) {
    if (e->untyped) return e;
    if (Expr found = folded(e); found.get()) return found;
    if (Expr found = exact_identity(e); found.get()) return found;
    if (e.dtype() == DType::boolean) {
      if (Expr found = logic_identity(e); found.get()) return found;
      return comparison(e);
    }
    if (is_float(e.dtype())) return e;
    if (Expr found = integer_identity(e); found.get()) return found;
    return is_index(e) ? index(e) : e;
  }

  Expr comparison(const Expr& e) {
    const bool compares = e.op() == ExprOp::less || e.op() == ExprOp::less_equal || e.op() == ExprOp::equal;
    if (!compares || !is_index(e->args[0])) return e;
    const Linear sum = linear_of(e->args[0] - e->args[1]);
    const ExprRange d = range_of(sum, extents_);
    if (e.op() == ExprOp::equal) {
      if (sum.is_constant() && sum.offset == Dim(0)) return boolean(true);
      return known_less(d.upper, Dim(0)) || known_less(Dim(0), d.lower) ? boolean(false) : e;
    }
    const bool strict = e.op() == ExprOp::less;
    if (strict ? known_less(d.upper, Dim(0)) : known_at_most(d.upper, Dim(0))) return boolean(true);
    if (strict ? known_at_most(Dim(0), d.lower) : known_less(Dim(0), d.lower)) return boolean(false);
    return e;
  }

  Expr index(const Expr& e) {
    switch (e.op()) {
      case ExprOp::add:
      case ExprOp::sub:
      case ExprOp::neg:
      case ExprOp::mul: {
        const Linear sum = linear_of(e);
        return sum.terms.size() == 1 && sum.terms[0].first.get() == e.get() ? e : expr_of(sum);
      }
      case ExprOp::div:
      case ExprOp::mod:
      case ExprOp::rem: return division(e);
      case ExprOp::min:
      case ExprOp::max: return extreme(e);
      default: return e;
    }
  }

  Expr extreme(const Expr& e) {
    const ExprRange d = range_of(linear_of(e->args[0] - e->args[1]), extents_);
    const bool is_min = e.op() == ExprOp::min;
    if (known_at_most(d.upper, Dim(0))) return e->args[is_min ? 0 : 1];
    if (known_at_most(Dim(0), d.lower)) return e->args[is_min ? 1 : 0];
    return e;
  }

  /// No axis has the extent 0 where anything is evaluated.
  bool positive(Dim d) const { return known_positive(d) || std::find(extents_.begin(), extents_.end(), d) != extents_.end(); }

  Expr division(const Expr& e) {
    const Linear by = linear_of(e->args[1]);
    if (!by.is_constant() || !positive(by.offset)) return e;
    const Dim k = by.offset;
    Linear whole, rest;
    const Linear sum = linear_of(e->args[0]);
    for (const auto& [term, coefficient] : sum.terms) {
      if (const auto q = exact_quotient(coefficient, k)) whole.terms.emplace_back(term, *q);
      else rest.terms.emplace_back(term, coefficient);
    }
    if (const auto q = exact_quotient(sum.offset, k)) whole.offset = *q;
    else rest.offset = sum.offset;
    return divided(e, k, whole, rest);
  }

  /// e's operand is k * whole + rest.
  Expr divided(const Expr& e, Dim k, const Linear& whole, const Linear& rest) {
    const bool nothing_left = rest.is_constant() && rest.offset == Dim(0);
    const ExprRange whole_range = range_of(whole, extents_), rest_range = range_of(rest, extents_);
    const bool rest_fits = nothing_left || (known_at_most(Dim(0), rest_range.lower) && known_less(rest_range.upper, k));
    const bool floors =
        nothing_left || e.op() == ExprOp::mod || (known_at_most(Dim(0), whole_range.lower) && known_at_most(Dim(0), rest_range.lower));
    if (!floors) return nested(e, k);
    if (rest_fits) return expr_of(e.op() == ExprOp::div ? whole : rest);
    if (whole.is_constant() && whole.offset == Dim(0)) return nested(e, k);
    const Expr left = Expr::make(e.op(), DType::i64, {expr_of(rest), Expr::dim(k)});
    return e.op() == ExprOp::div ? of(expr_of(whole) + left) : of(left);
  }

  /// (x / a) / b = x / (a * b) for positive numbers.
  Expr nested(const Expr& e, Dim k) {
    const Expr& inner = e->args[0];
    if (e.op() != ExprOp::div || inner.op() != ExprOp::div) return e;
    const Linear by = linear_of(inner->args[1]);
    if (!by.is_constant() || !known_positive(by.offset) || !known_positive(k) || (by.offset * k).is_overflow()) return e;
    return of(Expr::make(ExprOp::div, DType::i64, {inner->args[0], Expr::dim(by.offset * k)}));
  }

  std::span<const Dim> extents_;
  std::unordered_map<const ExprNode*, std::pair<Expr, Expr>> done_;  ///< holds the expressions, so that no address comes twice
};

}  // namespace

Expr simplify(const Expr& e) { return Simplifier({}).of(e); }
Expr simplify(const Expr& e, std::span<const Dim> extents) { return Simplifier(extents).of(e); }

}  // namespace tenon::inline base
