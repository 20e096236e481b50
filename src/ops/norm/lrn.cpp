// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_lrn {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 2, -1));
  if (view.attributes->integer("size", 1) < 1) return refuse(view, Code::bad_attribute, "size must be at least 1");
  set_output(view, 0, view.type(0));
  return {};
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DimList& shape = *view.type(0).shape;
  const int rank = view.rank(0);
  const int64_t size = view.attributes->integer("size", 1);
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  Loop sum;
  sum.axes = parallel_axes(shape);
  sum.axes.push_back({Axis::Kind::reduced, size});
  std::vector<Expr> near = axis_indices(rank);
  near[1] = Expr::axis(1) + Expr::axis(rank) - index_constant((size - 1) / 2);
  Access access = operand_access(view, 0, near);
  access.within = logical_and(index_constant(0) <= near[1], near[1] < size_expr(shape[1]));
  access.fill = Expr::constant(dtype, 0);
  const Expr neighbour = to_compute_dtype(load(sum, std::move(access)));
  Output squares = full_output(wide, shape, neighbour * neighbour);
  squares.combine = Combine::sum;
  sum.outputs.push_back(std::move(squares));
  Loop map;
  map.axes = parallel_axes(shape);
  const Expr x = to_compute_dtype(load(map, operand_access(view, 0, axis_indices(rank)))),
             total = load(map, loop_output_access(0, 0, wide, axis_indices(rank)));
  auto number = [&](std::string_view name, float otherwise) { return static_cast<double>(view.attributes->number(name, otherwise)); };
  const double alpha = number("alpha", 1e-4f) / static_cast<double>(size);
  const Expr base = Expr::constant(wide, number("bias", 1)) + Expr::constant(wide, alpha) * total;
  map.outputs.push_back(full_output(dtype, shape, x / binary(ExprOp::pow, base, Expr::constant(wide, number("beta", 0.75f)))));
  return loop_sequence_form({std::move(sum), std::move(map)});
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const ir::Attributes& a = *call.view.attributes;
  const int64_t size = a.integer("size", 1), channels = t.shape()[1], plane = strides_of(t.shape())[1];
  const double alpha = a.number("alpha", 1e-4f), beta = a.number("beta", 0.75f), bias = a.number("bias", 1);
  const std::vector<double> x = numbers_of(t);
  std::vector<double> y(x.size());
  for (int64_t i = 0; i < t.count(); ++i) {
    const int64_t c = i / plane % channels, first = std::max<int64_t>(0, c - (size - 1) / 2), last = std::min(channels - 1, c + size / 2);
    double squares = 0;
    for (int64_t k = first; k <= last; ++k) squares += x[i + (k - c) * plane] * x[i + (k - c) * plane];
    y[i] = x[i] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta);
  }
  store_numbers(*TRY(call.make(0, t.shape())), y);
  return {};
}

}  // namespace

OP(lrn) {
    .name = "LRN",
    .since_version = 13,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"alpha: float = 0.0001", "beta: float = 0.75", "bias: float = 1.0", "size: int!"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .samples = {{"f32[2,5,3,3]; size=3", "f32[1,7,2,2]; size=4, alpha=0.1, beta=0.5, bias=2.0", "f16[1,4,2,2]; size=1"}},
};

}  // namespace tenon::ops::op_lrn
