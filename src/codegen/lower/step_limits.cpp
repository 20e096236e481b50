// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/step_limits.h"

#include <algorithm>

#include "codegen/analysis/combine.h"
#include "codegen/analysis/nest_properties.h"

namespace tenon::codegen {

namespace {

/// Whether the expression is that constant.
bool is_number(const Expr& e, const ExprNode& number) {
  return e.op() == ExprOp::constant && e->float_value == number.float_value && e->int_value == number.int_value;
}

/// Whether a step that reads the access's fill leaves every result as it is.
bool fill_changes_nothing(const Nest& nest, int access) {
  const Expr& fill = nest.accesses[static_cast<size_t>(access)].fill;
  if (fill.op() != ExprOp::constant) return false;
  return std::ranges::all_of(nest.outputs, [&](const NestOutput& o) {
    if (o.combine == ops::Combine::none) return false;
    const Expr value =
        substitute(o.value, [&](const ExprNode& leaf) { return leaf.op == ExprOp::input && leaf.index == access ? fill : Expr(); });
    return is_number(simplify(value), identity_of(o.combine, o.value.dtype()));
  });
}

/// The difference that is at least 0 where the comparison of integers `e` holds; nullopt where it is not affine in the axes.
std::optional<Affine> at_least_zero(const Expr& e, int axes) {
  if ((e.op() != ExprOp::less && e.op() != ExprOp::less_equal) || e.args()[0].dtype() != DType::i64) return std::nullopt;
  auto difference = affine_of(e.args()[1] - e.args()[0], axes);
  if (difference && e.op() == ExprOp::less) difference->offset = difference->offset - 1;
  return difference;
}

class LimitFinder {
 public:
  LimitFinder(Nest& nest, int vector, const std::function<bool(int)>& is_loop) : nest_(nest), vector_(vector), is_loop_(is_loop) {
    limits_.resize(nest.axes.size());
  }

  StepLimits run() && {
    for (int k = 0; k < static_cast<int>(nest_.accesses.size()); ++k) {
      Expr& within = nest_.accesses[static_cast<size_t>(k)].within;
      if (!within || !fill_changes_nothing(nest_, k)) continue;
      within = rest_of(within);
      if (!within) nest_.accesses[static_cast<size_t>(k)].fill = {};
    }
    return std::move(limits_);
  }

 private:
  /// Moves comparisons of the condition to limits_, and returns the others; null where none is left.
  Expr rest_of(const Expr& within) {
    if (within.op() == ExprOp::logical_and) {
      const Expr a = rest_of(within.args()[0]), b = rest_of(within.args()[1]);
      return a && b ? logical_and(a, b) : a ? a : b;
    }
    const auto condition = at_least_zero(within, static_cast<int>(nest_.axes.size()));
    const int axis = condition ? limited_axis(*condition) : -1;
    if (axis < 0) return within;
    limits_[static_cast<size_t>(axis)].push_back(*condition);
    return {};
  }

  /// The axis whose loop the condition can limit; -1: none.
  int limited_axis(const Affine& condition) const {
    int last = -1;
    for (int x = 0; x < static_cast<int>(nest_.axes.size()); ++x)
      if (!(condition.coefficients[x] == Dim(0))) last = x;
    if (last < 0 || nest_.axes[static_cast<size_t>(last)].kind != ops::Axis::Kind::reduced || !is_loop_(last)) return -1;
    const bool by_lane = vector_ >= 0 && !(condition.coefficients[vector_] == Dim(0));
    return by_lane || !condition.coefficients[last].is_number() ? -1 : last;
  }

  Nest& nest_;
  const int vector_;
  const std::function<bool(int)>& is_loop_;
  StepLimits limits_;
};

}  // namespace

StepLimits take_step_limits(Nest& nest, int vector, const std::function<bool(int axis)>& is_loop) {
  return LimitFinder(nest, vector, is_loop).run();
}

}  // namespace tenon::codegen
