// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unordered_map>

#include "codegen/analysis/diagonal.h"

namespace tenon::codegen {

/// Rewrites expressions from the axes (row, column) to (row, column - row + rows): no axis may be negative.
class DiagonalShift {
 public:
  DiagonalShift(Diagonal d, Dim rows) : d_(d), column_(Expr::axis(d.column) + Expr::axis(d.row) - Expr::dim(rows)) {}

  /// Null where the row still occurs.
  Expr operator()(const Expr& e);

 private:
  Expr substituted(const Expr& e);
  Expr normalized_comparison(const Expr& e) const;

  const Diagonal d_;
  const Expr column_;                               ///< the old column over the new axes
  std::unordered_map<const ExprNode*, Expr> done_;  ///< expressions that are rewritten already
};

}  // namespace tenon::codegen
