// SPDX-License-Identifier: Apache-2.0
#include "codegen/plan/plan.h"

#include <algorithm>

namespace tenon::codegen {

const PlanState* state_in(ArrayId array, const Plan& plan) {
  const auto has = [&](const PlanState& s) { return plan.inputs[s.input] == array || (s.in_place && plan.outputs[s.output] == array); };
  const auto found = std::ranges::find_if(plan.states, has);
  return found == plan.states.end() ? nullptr : &*found;
}

const PlanState* state_of_input(size_t number, const Plan& plan) {
  const auto found = std::ranges::find(plan.states, number, &PlanState::input);
  return found == plan.states.end() ? nullptr : &*found;
}

const PlanState* state_of_output(size_t number, const Plan& plan) {
  const auto found = std::ranges::find(plan.states, number, &PlanState::output);
  return found == plan.states.end() ? nullptr : &*found;
}

DimList row_major(const DimList& shape) {
  DimList strides(shape.size(), Dim(1));
  for (size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return strides;
}

DimList strides_in_order(const DimList& shape, const std::vector<int>& order) {
  if (order.empty()) return row_major(shape);
  DimList strides(shape.size(), Dim(1));
  Dim step = 1;
  for (size_t k = order.size(); k-- > 0;) {
    strides[order[k]] = step;
    step = step * shape[order[k]];
  }
  return strides;
}

DimList stored_shape(const Array& array) {
  DimList out = array.shape;
  if (array.growing) out[array.growing->axis] = array.growing->capacity;
  for (size_t d = 0; d < array.halo.before.size(); ++d) out[d] = out[d] + array.halo.before[d] + array.halo.after[d];
  if (array.row_padding > 0) {
    Dim& row = out[array.order.empty() ? out.size() - 1 : array.order.back()];
    row = row + Dim(array.row_padding);
  }
  return out;
}

DimList strides_of(const Array& array) { return strides_in_order(stored_shape(array), array.order); }

Dim start_of(const Array& array) {
  Dim out = 0;
  for (size_t d = 0; d < array.halo.before.size(); ++d) out = out + array.strides[d] * array.halo.before[d];
  return out;
}

Expr flatten(const std::vector<Expr>& index, const DimList& strides) {
  Expr sum = Expr::integer(DType::i64, 0);
  for (size_t k = 0; k < index.size(); ++k) sum = sum + index[k] * Expr::dim(strides[k]);
  return simplify(sum);
}

namespace {

/// The outermost dimension, of more than one element, whose stride divides the coefficient, and the quotient.
std::optional<std::pair<size_t, Dim>> owner_of(Dim coefficient, const DimList& shape, const DimList& strides) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == Dim(1)) continue;
    if (auto quotient = exact_quotient(coefficient, strides[d])) return std::pair(d, *quotient);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<Expr>> unflatten(const Expr& flat, const DimList& shape, const std::vector<ops::Axis>& axes) {
  auto affine = affine_of(flat, static_cast<int>(axes.size()));
  if (!affine) return std::nullopt;
  const DimList strides = row_major(shape);
  std::vector<Expr> index(shape.size(), Expr::integer(DType::i64, 0));
  DimList highest(shape.size(), Dim(0)), lowest(shape.size(), Dim(0));
  auto place = [&](Dim coefficient, const Expr& factor, Dim top) {
    auto owner = owner_of(coefficient, shape, strides);
    if (!owner) return false;
    auto [d, quotient] = *owner;
    index[d] = index[d] + factor * Expr::dim(quotient);
    (quotient.lower() >= 0 ? highest : lowest)[d] = (quotient.lower() >= 0 ? highest : lowest)[d] + quotient * top;
    return true;
  };
  for (size_t k = 0; k < axes.size(); ++k) {
    const Dim coefficient = affine->coefficients[k];
    if (coefficient == Dim(0) || axes[k].extent == Dim(1)) continue;
    if (!place(coefficient, Expr::axis(static_cast<int>(k)), axes[k].extent - 1)) return std::nullopt;
  }
  if (affine->offset.is_number()) {
    int64_t rest = affine->offset.value();
    for (size_t d = 0; d < shape.size() && rest != 0; ++d) {
      if (!strides[d].is_number() || strides[d].value() <= 0) continue;
      const int64_t part = rest / strides[d].value();
      rest -= part * strides[d].value();
      index[d] = index[d] + Expr::integer(DType::i64, part);
      highest[d] = highest[d] + part;
      lowest[d] = lowest[d] + part;
    }
    if (rest != 0) return std::nullopt;
  } else if (!place(affine->offset, Expr::integer(DType::i64, 1), 1)) {
    return std::nullopt;
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (highest[d].less(shape[d]) != std::optional(true) && !(highest[d] == Dim(0))) return std::nullopt;
    if (lowest[d].less(0).value_or(true)) return std::nullopt;
    index[d] = simplify(index[d]);
  }
  return index;
}

bool is_axis(const Expr& index, int axis, const Nest& nest) {
  if (index.op() == ExprOp::axis) return index->index == axis;
  return index.op() == ExprOp::constant && index->int_value == 0 && nest.axes[axis].extent == Dim(1);
}

namespace {

template <size_t... Index>
GroupPayload payload_of(GroupKind kind, std::index_sequence<Index...>) {
  GroupPayload out;
  (void)((static_cast<size_t>(kind) == Index && (out.emplace<Index>(), true)) || ...);
  return out;
}

}  // namespace

void Group::set_kind(GroupKind kind) {
  if (kind != this->kind()) payload = payload_of(kind, std::make_index_sequence<std::variant_size_v<GroupPayload>>());
}

}  // namespace tenon::codegen
