// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/pool.h"

#include "ops/form/loops.h"
#include "ops/reference/indices.h"
#include "ops/spatial/pool_loops.h"

namespace tenon::ops {

Result<PoolSizes> pool_sizes(const Call& call) {
  const Sizes& x = call.in[0]->shape();
  const Sizes data(x.begin() + 2, x.end());
  const ir::Attributes& how = *call.view.attributes;
  PoolSizes out;
  out.windows = TRY(window_sizes(call.view, data, how.ints("kernel_shape"), how.integer("ceil_mode", 0) != 0));
  out.shape = {x[0], x[1]};
  out.shape.insert(out.shape.end(), out.windows.out.begin(), out.windows.out.end());
  out.planes = x[0] * x[1];
  out.plane = count_of(data);
  out.out_plane = count_of(out.windows.out);
  return out;
}

Result<void> reference_of_pool(Call& call, const std::function<double(std::span<const double> x, int64_t padded)>& number) {
  const PoolSizes s = TRY(pool_sizes(call));
  Tensor& y = *TRY(call.make(0, s.shape));
  const std::vector<double> x = numbers_of(*call.in[0]);
  std::vector<double> window;
  each_window(s.windows, [&](int64_t out, std::span<const int64_t> offsets, int64_t padded) {
    for (int64_t p = 0; p < s.planes; ++p) {
      window.clear();
      for (int64_t offset : offsets) window.push_back(x[p * s.plane + offset]);
      y.set_number(p * s.out_plane + out, number(window, padded));
    }
  });
  return {};
}

Result<LoopForm> form_of_sum_pool(const NodeView& view, const std::function<Expr(Expr)>& transform,
                                  const std::function<Expr(Expr sum, const Windows& windows)>& finish) {
  TRY(require_known_ranks(view));
  const DimList& shape = *view.outputs[0].shape;
  const Windows windows = TRY(windows_of(view, spatial_of(view.type(0))));
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  std::vector<Loop> loops = pool_loops(view, windows, {Combine::sum, wide, Expr::constant(dtype, 0), transform});
  Loop last;
  last.axes = parallel_axes(shape);
  const Expr total =
      load(last, loop_output_access(static_cast<int>(loops.size()) - 1, 0, wide, axis_indices(static_cast<int>(shape.size()))));
  last.outputs.push_back(full_output(dtype, shape, finish(total, windows)));
  loops.push_back(std::move(last));
  return loop_sequence_form(std::move(loops));
}

}  // namespace tenon::ops
