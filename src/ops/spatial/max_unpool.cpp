// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_max_unpool {

namespace {

/// The shape that the indices are positions in: the shape of X unpooled by the attributes.
Result<DimList> indexed_shape(const NodeView& view) {
  const size_t n = static_cast<size_t>(view.rank(0)) - 2;
  const Ints kernel = view.attributes->ints("kernel_shape"), stride = view.attributes->ints("strides", Ints(n, 1)),
             pads = view.attributes->ints("pads", Ints(2 * n, 0));
  if (kernel.size() != n || stride.size() != n || pads.size() != 2 * n)
    return refuse(view, Code::bad_attribute, "kernel_shape, strides and pads must fit the spatial axes");
  DimList shape{view.type(0).dim(0), view.type(0).dim(1)};
  for (size_t i = 0; i < n; ++i)
    shape.push_back((view.type(0).dim(static_cast<int>(i) + 2) - 1) * stride[i] + kernel[i] - pads[i] - pads[n + i]);
  return shape;
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 3, -1));
  TRY(require_dtype(view, 1, [](DType d) { return d == DType::i64; }, "i64"));
  if (view.type(0).has_rank()) {
    TRY(require_sizes(view, 1, *view.type(0).shape));
    TRY(indexed_shape(view));
  }
  Type out(dtype_of(view, 0));
  if (view.has(2)) {
    if (const auto shape = known_elements(view, 2)) {
      if (view.type(0).has_rank() && static_cast<int>(shape->size()) != view.rank(0))
        return refuse(view, Code::shape_mismatch, "output_shape has a wrong length").expected(std::to_string(view.rank(0)));
      out.shape = *shape;
    }
  } else if (view.type(0).has_rank()) {
    out.shape = TRY(indexed_shape(view));
  }
  set_output(view, 0, std::move(out));
  return {};
}

/// Indices are positions in the shape that the attributes give; a larger output_shape leaves zeros at the end of each axis.
Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const size_t n = static_cast<size_t>(t.rank()) - 2;
  const ir::Attributes& a = *call.view.attributes;
  const Ints kernel = a.ints("kernel_shape"), stride = a.ints("strides", Ints(n, 1)), pads = a.ints("pads", Ints(2 * n, 0));
  Sizes inner{t.shape()[0], t.shape()[1]};
  for (size_t i = 0; i < n; ++i) inner.push_back((t.shape()[i + 2] - 1) * stride[i] + kernel[i] - pads[i] - pads[n + i]);
  const Sizes shape = call.has(2) ? integers_of(*call.in[2]) : inner;
  if (shape.size() != inner.size()) return refuse(call.view, Code::shape_mismatch, "output_shape has a wrong length");
  Tensor& y = *TRY(call.make(0, shape));
  const Sizes strides = strides_of(shape);
  for (int64_t i = 0; i < t.count(); ++i) {
    const int64_t target = call.in[1]->integer(i);
    if (target < 0 || target >= count_of(inner))
      return refuse(call.view, Code::index_out_of_range, "an index lies outside of the output").found(std::to_string(target));
    const Sizes at = index_of(target, inner);
    if (std::equal(at.begin(), at.end(), shape.begin(), [](int64_t p, int64_t size) { return p < size; }))
      y.set_number(offset_of(at, strides), t.number(i));
  }
  return {};
}

/// Two loops: zeros, then each element at its position; positions outside of a smaller output_shape are skipped.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Type& y = view.outputs[0];
  const DimList from = TRY(indexed_shape(view));
  if (from.size() != y.shape->size()) return refuse(view, Code::shape_mismatch, "output_shape has a wrong length");
  Loop zeros, loop;
  zeros.axes = parallel_axes(*y.shape);
  zeros.outputs.push_back(full_output(y.dtype, *y.shape, Expr::constant(y.dtype, 0)));
  loop.axes = parallel_axes(*view.type(0).shape);
  const std::vector<Expr> all = axis_indices(view.rank(0));
  const Expr value = load(loop, operand_access(view, 0, all)), at = load(loop, operand_access(view, 1, all));
  Output out = full_output(y.dtype, *y.shape, value);
  out.index = delinearized_index(at, from);
  out.within = logical_and(index_constant(0) <= at, at < size_expr(product(from)));
  for (size_t k = 0; k < from.size(); ++k)
    if (!from[k].known_equal((*y.shape)[k])) out.within = logical_and(out.within, out.index[k] < size_expr((*y.shape)[k]));
  out.partial = true;
  loop.index_checks.push_back({.access = 1, .extent = product(from)});
  loop.outputs.push_back(std::move(out));
  return loop_sequence_form({std::move(zeros), std::move(loop)});
}

}  // namespace

OP(max_unpool) {
    .name = "MaxUnpool",
    .since_version = 22,
    .inputs = {{"X", "I", "output_shape?"}},
    .attributes = {{"kernel_shape: ints!", "pads: ints", "strides: ints"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView&) { return 9; },
    .first_opset = 9,
    .samples = {{"f32[1,1,2,2], i64[1,1,2,2] = [5, 7, 13, 15]; kernel_shape=[2,2], strides=[2,2]",
                 "f32[1,1,2,2], i64[1,1,2,2] = [5, 7, 13, 15], i64[4] = [1,1,5,5]; kernel_shape=[2,2], strides=[2,2]"}},
};

}  // namespace tenon::ops::op_max_unpool
