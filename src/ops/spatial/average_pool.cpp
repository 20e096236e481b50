// SPDX-License-Identifier: Apache-2.0
#include "ops/spatial/convolution.h"

namespace tenon::ops::op_average_pool {

namespace {

bool counts_padding(const NodeView& view) { return view.attributes->integer("count_include_pad", 0) != 0; }

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_real_arithmetic, "a float type"));
  return infer_pool(view);
}

Result<LoopForm> form(const NodeView& view) {
  TRY(require_ranks(view));
  const DimList sizes = spatial_of(view.type(0)), &shape = *view.outputs[0].shape;
  const Windows windows = TRY(windows_of(view, sizes));
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  Loop sum = pool_loop(view, windows, Expr::constant(dtype, 0), nullptr, Combine::sum, wide);
  Loop mean;
  mean.axes = parallel_axes(shape);
  const Expr total = load(mean, read_earlier(0, 0, wide, axis_indices(static_cast<int>(shape.size()))));
  const Expr count = window_count(windows, sizes, 2, counts_padding(view));
  mean.outputs.push_back(whole(dtype, shape, total / cast(count, wide)));
  return chain({std::move(sum), std::move(mean)});
}

Result<void> evaluate(Call& call) {
  const Tensor& t = *call.in[0];
  const Sizes data(t.shape().begin() + 2, t.shape().end());
  const WindowSizes s =
      TRY(window_sizes(call.view, data, call.view.attributes->ints("kernel_shape"), call.view.attributes->integer("ceil_mode", 0) != 0));
  Sizes shape{t.shape()[0], t.shape()[1]};
  shape.insert(shape.end(), s.out.begin(), s.out.end());
  Tensor& y = *TRY(call.make(0, shape));
  const std::vector<double> x = numbers_of(t);
  const int64_t plane = count_of(data), out_plane = count_of(s.out);
  each_window(s, [&](int64_t out, std::span<const int64_t> offsets, int64_t padded) {
    const double count = static_cast<double>(counts_padding(call.view) ? padded : static_cast<int64_t>(offsets.size()));
    for (int64_t p = 0; p < shape[0] * shape[1]; ++p) {
      double sum = 0;
      for (int64_t offset : offsets) sum += x[p * plane + offset];
      y.set_number(p * out_plane + out, sum / count);
    }
  });
  return {};
}

}  // namespace

OP(average_pool) {
    .name = "AveragePool",
    .since = 22,
    .inputs = {"X"},
    .outputs = {"Y"},
    .attributes = {"auto_pad: string = NOTSET", "ceil_mode: int = 0", "count_include_pad: int = 0", "dilations: ints",
                   "kernel_shape: ints!", "pads: ints", "strides: ints"},
    .infer = infer,
    .form = form,
    .reference = evaluate,
    .lowest_opset =
        [](const NodeView& view) {
          if (view.type(0).dtype == DType::bf16) return 22;
          if (view.attributes->has("dilations")) return 19;
          return view.attributes->integer("ceil_mode", 0) != 0 ? 10 : 7;
        },
    .downgrade = [](ir::Graph& graph, ir::NodeId node, int opset) -> Result<void> {
      if (opset < 10) graph.erase_attribute(node, "ceil_mode");
      return {};
    },
    .samples = {"f32[1,3,8,8]; kernel_shape=[2,2], strides=[2,2]", "f32[1,2,7,7]; kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]",
                "f32[1,2,7,7]; kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1], count_include_pad=1",
                "f32[2,3,9]; kernel_shape=[4], strides=[3], ceil_mode=1", "f32[1,1,4,5,6]; kernel_shape=[2,2,2]",
                "f32[1,1,7,7]; kernel_shape=[2,2], dilations=[2,2], pads=[1,1,1,1]",
                "f32[1,1,5,5]; kernel_shape=[3,3], auto_pad=SAME_LOWER, strides=[2,2]", "f16[1,2,5,5]; kernel_shape=[3,3]",
                "f32[1,1,4,4]; kernel_shape=[3,3], strides=[2,2], ceil_mode=1, count_include_pad=1, pads=[1,1,0,0]"},
};

}  // namespace tenon::ops::op_average_pool
