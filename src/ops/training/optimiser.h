// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "ops/core/op.h"

namespace tenon::ops {

/// Helper of the definitions of ONNX's optimisers. Operands: the learning rate, the count of updates, then for `tensors` tensors all
/// values, all gradients, and the states, those of one kind after those of the other.
struct Optimiser {
  ir::Builder& build;
  const NodeView& view;
  std::span<const ir::ValueId> in;
  size_t tensors;

  static constexpr size_t kRate = 0, kCount = 1, kFirst = 2;
  /// Tensor `k` of a group: 0 are the values, 1 the gradients, 2 and on the states.
  ir::ValueId tensor(size_t group, size_t k) const { return in[kFirst + group * tensors + k]; }
  DType dtype(size_t k) const { return view.type(kFirst + k).dtype; }
  /// The count of updates in the dtype of tensor `k`, and the rate.
  ir::ValueId count(size_t k) const;
  ir::ValueId rate(size_t k) const;
  ir::ValueId number(size_t k, double value) const { return build.scalar(dtype(k), value); }
  ir::ValueId op(std::string_view name, ir::ValueId a, ir::ValueId b) const { return build(name, {a, b}); }
  /// x * factor, in the dtype of tensor `k`.
  ir::ValueId times(size_t k, ir::ValueId x, double factor) const { return op("Mul", x, number(k, factor)); }
  /// The gradient of tensor `k` plus that of the regularisation norm_coefficient / 2 * |value|^2.
  ir::ValueId gradient(size_t k) const;
  double attribute(std::string_view name, double otherwise) const { return view.attributes->number(name, static_cast<float>(otherwise)); }
};

/// How many results the node has, by its number of operands; 1 where that does not fit.
size_t results_of_optimiser(const NodeView& view, size_t groups);
/// `groups` operands and `groups - 1` results a tensor (gradients have none). Errors: bad_graph where the numbers do not fit, else those
/// of the definition.
Result<void> infer_optimiser(NodeView& view, size_t groups);
/// How many tensors the node updates; 0 where the number of operands does not fit.
size_t optimised_tensors(const NodeView& view, size_t groups);

}  // namespace tenon::ops
