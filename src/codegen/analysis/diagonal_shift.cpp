// SPDX-License-Identifier: Apache-2.0
#include "codegen/analysis/diagonal_shift.h"

#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

Expr DiagonalShift::operator()(const Expr& e) {
  const Expr shifted = simplify(substituted(e));
  return mentions(shifted, ExprOp::axis, d_.row) ? Expr() : shifted;
}

Expr DiagonalShift::substituted(const Expr& e) {
  if (e.op() == ExprOp::axis && e->index == d_.column) return column_;
  if (e.args().empty()) return e;
  if (auto found = done_.find(e.get()); found != done_.end()) return found->second;
  std::vector<Expr> args;
  bool changed = false;
  for (const Expr& a : e.args()) {
    args.push_back(substituted(a));
    changed |= args.back().get() != a.get();
  }
  Expr made = changed ? normalized_comparison(Expr::make(e.op(), e.dtype(), std::move(args))) : e;
  done_.emplace(e.get(), made);
  return made;
}

/// A comparison a < b of positions becomes a - b < 0 where the row cancels in the difference.
Expr DiagonalShift::normalized_comparison(const Expr& e) const {
  const bool compares = e.op() == ExprOp::less || e.op() == ExprOp::less_equal || e.op() == ExprOp::equal;
  if (!compares || e.args()[0].dtype() != DType::i64) return e;
  const Expr difference = simplify(e.args()[0] - e.args()[1]);
  if (mentions(difference, ExprOp::axis, d_.row)) return e;
  return Expr::make(e.op(), DType::boolean, {difference, Expr::integer(DType::i64, 0)});
}

}  // namespace tenon::codegen
