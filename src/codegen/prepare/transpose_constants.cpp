// SPDX-License-Identifier: Apache-2.0
#include "codegen/prepare/transpose_constants.h"

#include <algorithm>

#include "codegen/analysis/places.h"
#include "codegen/prepare/operand_access.h"

namespace tenon::codegen {

namespace {

/// The element numbers along one axis of a constant: multiples of `step` below `end`.
struct Span {
  int64_t step = 0, end = 0;

  bool contains(Dim coefficient) const { return coefficient.value() >= step && coefficient.value() < end; }
};

/// The span of the vector axis; nullopt where the constant need not, or cannot, be transposed for it.
std::optional<Span> span_to_transpose(const NestAccess& access, const Nest& scheduled, int vector_axis, const Plan& plan) {
  const ir::ConstantRef& constant = plan.arrays[access.array].constant;
  if (!constant || access.within) return std::nullopt;
  const auto place = affine_of(flat_of(access, plan), static_cast<int>(scheduled.axes.size()));
  if (!place || place->coefficients[vector_axis] == Dim(0) || place->coefficients[vector_axis] == Dim(1)) return std::nullopt;
  const auto order = dense_order(*place, scheduled, constant->shape);
  // An axis of one step is not in the order.
  if (!order || std::ranges::find(*order, vector_axis) == order->end()) return std::nullopt;
  const int64_t step = place->coefficients[vector_axis].value();
  return Span{step, step * scheduled.axes[vector_axis].extent.value()};
}

void transpose(NestAccess& access, const Nest& nest, const Span& vector, Plan& plan) {
  const ir::ConstantRef source = plan.arrays[access.array].constant;
  const auto place = affine_of(flat_of(access, plan), static_cast<int>(nest.axes.size()));
  const auto order = place ? dense_order(*place, nest, source->shape) : std::nullopt;
  if (!order) return;
  Sizes split;
  for (const int x : *order) split.push_back(nest.axes[x].extent.value());
  std::vector<int> permutation;
  for (const bool last : {false, true})
    for (int k = 0; k < static_cast<int>(order->size()); ++k)
      if (vector.contains(place->coefficients[(*order)[k]]) == last) permutation.push_back(k);
  Array transposed;
  transposed.constant = ir::permute(ir::reshape(source, split), permutation);
  transposed.dtype = transposed.constant->dtype;
  for (const int64_t s : transposed.constant->shape) transposed.shape.push_back(s);
  transposed.strides = row_major(transposed.shape);
  plan.arrays.push_back(std::move(transposed));
  access.array = static_cast<ArrayId>(plan.arrays.size() - 1);
  access.flat = Expr();
  access.index.clear();
  for (const int k : permutation) access.index.push_back(Expr::axis((*order)[k]));
}

}  // namespace

void transpose_constants(Nest& nest, const Nest& scheduled, int vector_axis, Plan& plan) {
  if (vector_axis < 0) return;
  for (size_t k = 0; k < nest.accesses.size(); ++k)
    if (const auto vector = span_to_transpose(scheduled.accesses[k], scheduled, vector_axis, plan))
      transpose(nest.accesses[k], nest, *vector, plan);
}

}  // namespace tenon::codegen
