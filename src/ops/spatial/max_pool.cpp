// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/infer/require.h"
#include "ops/reduce/reduction.h"
#include "ops/spatial/pool.h"
#include "ops/spatial/pool_loops.h"

namespace tenon::ops::op_max_pool {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a float type, i8 or u8"));
  return infer_pool(view);
}

/// A loop with the row-major number, in its plane, of the first element of each window that equals the maximum (or is NaN); loop `maximum`
/// computes the maxima.
Loop first_hits(const NodeView& view, const Windows& windows, Expr lowest, int maximum) {
  const DimList &shape = *view.outputs[0].shape, sizes = spatial_of(view.type(0));
  auto [loop, at, x] = window_loop(view, windows, std::move(lowest));
  const Expr top =
      to_compute_dtype(load(loop, loop_output_access(maximum, 0, view.type(0).dtype, axis_indices(static_cast<int>(shape.size())))));
  Expr hit = equal(x, top);
  if (is_float(x.dtype())) hit = logical_or(hit, unary(ExprOp::is_nan, x));
  if (at.within) hit = logical_and(hit, at.within);
  loop.outputs.push_back(full_output(DType::i64, shape, select(hit, linear_index(at.index, sizes), index_constant(INT64_MAX))));
  loop.outputs.back().combine = Combine::min;
  return loop;
}

/// A loop that converts these numbers, of loop `hits`, to those of result Indices; -1 for an empty window.
Loop result_indices(const NodeView& view, int hits) {
  const DimList &shape = *view.outputs[0].shape, sizes = spatial_of(view.type(0));
  Loop loop;
  loop.axes = parallel_axes(shape);
  const Expr hit = load(loop, loop_output_access(hits, 0, DType::i64, axis_indices(static_cast<int>(shape.size()))));
  Expr number = hit;
  if (view.attributes->integer("storage_order", 0) != 0) {
    const std::vector<Expr> at = delinearized_index(hit, sizes);
    number = index_constant(0);
    for (size_t i = sizes.size(); i-- > 0;) number = number * size_expr(sizes[i]) + at[i];
  }
  const Expr plane = Expr::axis(0) * size_expr(shape[1]) + Expr::axis(1);
  const Expr all = plane * size_expr(product(sizes)) + number;
  loop.outputs.push_back(full_output(DType::i64, shape, select(equal(hit, index_constant(INT64_MAX)), index_constant(-1), all)));
  return loop;
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Windows windows = TRY(windows_of(view, spatial_of(view.type(0))));
  const DType dtype = view.type(0).dtype;
  const Expr lowest = is_float(dtype) ? Expr::constant(dtype, -INFINITY) : Expr::integer(dtype, smallest_integer(dtype));
  // A maximum is one of the elements, so that nothing is rounded, whatever the dtype.
  LoopForm form = loop_sequence_form(pool_loops(view, windows, {Combine::max, dtype, lowest}));
  if (view.outputs.size() > 1 && view.outputs[1].dtype != DType::none) {
    const int maximum = static_cast<int>(form.loops.size()) - 1;
    form.loops.push_back(first_hits(view, windows, lowest, maximum));
    form.loops.push_back(result_indices(view, maximum + 1));
    form.results.push_back({Source::Kind::loop, maximum + 2, 0});
  }
  return form;
}

/// The number of an element in result Indices: over the whole tensor, spatial axes row-major or (storage_order 1) column-major.
int64_t reported(int64_t plane, int64_t offset, const Sizes& data, bool column_major) {
  if (!column_major) return plane * count_of(data) + offset;
  const Sizes at = index_of(offset, data);
  int64_t number = 0;
  for (size_t i = data.size(); i-- > 0;) number = number * data[i] + at[i];
  return plane * count_of(data) + number;
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const PoolSizes s = TRY(pool_sizes(call));
  Tensor& y = *TRY(call.make(0, s.shape));
  Tensor* indices = call.out.size() > 1 ? TRY(call.make(1, s.shape)) : nullptr;
  const bool column_major = call.view.attributes->integer("storage_order", 0) != 0;
  const std::vector<double> x = numbers_of(t);
  each_window(s.windows, [&](int64_t out, std::span<const int64_t> offsets, int64_t) {
    for (int64_t p = 0; p < s.planes; ++p) {
      double best = is_float(t.dtype()) ? -INFINITY : static_cast<double>(smallest_integer(t.dtype()));
      int64_t where = -1;
      for (int64_t offset : offsets) {
        const double v = x[p * s.plane + offset];
        if (where >= 0 && !(v > best) && v == v) continue;
        best = v;
        where = offset;
        if (v != v) break;
      }
      y.set_number(p * s.out_plane + out, best);
      if (indices) indices->set_integer(p * s.out_plane + out, where < 0 ? -1 : reported(p, where, s.windows.data, column_major));
    }
  });
  return {};
}

}  // namespace

OP(max_pool) {
    .name = "MaxPool",
    .since_version = 22,
    .inputs = {{"X"}},
    .outputs = {{"Y", "Indices?"}},
    .attributes = {{"auto_pad: string = NOTSET", "ceil_mode: int = 0", "dilations: ints", "kernel_shape: ints!", "pads: ints",
                    "storage_order: int = 0", "strides: ints"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset =
        [](const NodeView& view) {
          const DType dtype = view.type(0).dtype;
          if (dtype == DType::bf16) return 22;
          if (is_integer(dtype)) return 12;
          if (view.attributes->has("dilations") || view.attributes->integer("ceil_mode", 0) != 0) return 10;
          return view.outputs.size() > 1 ? 8 : 7;
        },
    .downgrade = [](ir::Graph& graph, ir::NodeId node, int opset) -> Result<void> {
      if (opset < 10) graph.erase_attribute(node, "ceil_mode");
      return {};
    },
    .samples = {{"f32[1,3,8,8]; kernel_shape=[2,2], strides=[2,2]",
                 "f32[1,2,7,7]; kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]",
                 "f32[2,3,9]; kernel_shape=[4], strides=[3], ceil_mode=1",
                 "f32[1,1,4,5,6]; kernel_shape=[2,2,2]",
                 "f32[1,1,7,7]; kernel_shape=[2,2], dilations=[2,2]",
                 "f32[1,1,5,5]; kernel_shape=[3,3], auto_pad=SAME_UPPER, strides=[2,2]",
                 "f32[1,2,5,5]; kernel_shape=[2,2], strides=[2,2], outputs=2",
                 "u8[1,1,4,4]; kernel_shape=[2,2]",
                 "f32[2,1,5,4] in 0..0; kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1], storage_order=1, outputs=2",
                 "f16[1,2,5,5]; kernel_shape=[3,3]",
                 "i8[1,1,4,4]; kernel_shape=[2,2], pads=[1,0,0,1]",
                 "f32[0,2,4,4]; kernel_shape=[2,2]",
                 "f32[1,2,2,3]; kernel_shape=[31,30], pads=[15,15,15,14], outputs=2",
                 "u8[1,1,3,4]; kernel_shape=[9,12], auto_pad=SAME_LOWER, strides=[2,1]",
                 "f32[1,2,4,4]; kernel_shape=[31,31], pads=[15,15,15,15]",
                 "f32[1,2,9,8]; kernel_shape=[5,5], pads=[2,2,2,2], outputs=2",
                 "f32[1,1,6,20]; kernel_shape=[5,9], pads=[2,4,1,3], strides=[1,2], ceil_mode=1",
                 "f32[1,1,5,5] = [1, 2, 3, 4, 5, 6, 7, -inf, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, inf, 6, 7]; kernel_shape=[5,5], "
                 "pads=[2,2,2,2]",
                 "f16[1,2,7,7]; kernel_shape=[5,5], pads=[2,2,2,2], dilations=[2,1]",
                 "i8[1,1,8,8]; kernel_shape=[7,7], pads=[3,3,3,3]",
                 "f32[1,1,5,6,4]; kernel_shape=[3,3,3], pads=[1,1,1,1,1,1]"}},
};

}  // namespace tenon::ops::op_max_pool
