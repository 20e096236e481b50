// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/spatial/convolution.h"
#include "ops/versions/versions.h"

namespace tenon::ops::op_lp_pool {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_real_arithmetic, "a float type"));
  if (view.attributes->integer("p", 2) < 1) return refuse(view, Code::bad_attribute, "p must be at least 1");
  return infer_pool(view);
}

Result<LoopForm> form(const NodeView& view) {
  TRY(require_ranks(view));
  const DimList& shape = *view.outputs[0].shape;
  const Windows windows = TRY(windows_of(view, spatial_of(view.type(0))));
  const DType dtype = view.type(0).dtype, wide = compute_dtype(dtype);
  const int64_t p = view.attributes->integer("p", 2);
  Loop sum = pool_loop(view, windows, Expr::constant(dtype, 0), nullptr, Combine::sum, wide);
  Expr x = abs(sum.outputs[0].value);
  const Expr power = Expr::constant(wide, static_cast<double>(p));
  sum.outputs[0].value = p == 1 ? x : p == 2 ? x * x : binary(ExprOp::pow, x, power);
  Loop root;
  root.axes = parallel_axes(shape);
  const Expr total = load(root, read_earlier(0, 0, wide, axis_indices(static_cast<int>(shape.size()))));
  const Expr y = p == 1 ? total : p == 2 ? sqrt(total) : binary(ExprOp::pow, total, Expr::constant(wide, 1.0 / static_cast<double>(p)));
  root.outputs.push_back(whole(dtype, shape, y));
  return chain({std::move(sum), std::move(root)});
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
  const double power = static_cast<double>(call.view.attributes->integer("p", 2));
  const int64_t plane = count_of(data), out_plane = count_of(s.out);
  each_window(s, [&](int64_t out, std::span<const int64_t> offsets, int64_t) {
    for (int64_t p = 0; p < shape[0] * shape[1]; ++p) {
      double sum = 0;
      for (int64_t offset : offsets) sum += std::pow(std::abs(x[p * plane + offset]), power);
      y.set_number(p * out_plane + out, std::pow(sum, 1 / power));
    }
  });
  return {};
}

}  // namespace

OP(lp_pool) {
    .name = "LpPool",
    .since = 22,
    .inputs = {"X"},
    .outputs = {"Y"},
    .attributes = {"auto_pad: string = NOTSET", "ceil_mode: int = 0", "dilations: ints", "kernel_shape: ints!", "p: int = 2", "pads: ints",
                   "strides: ints"},
    .infer = infer,
    .form = form,
    .reference = evaluate,
    .upgrade = whole_p_upgrade,
    .lowest_opset =
        [](const NodeView& view) {
          if (view.type(0).dtype == DType::bf16) return 22;
          return view.attributes->has("dilations") || view.attributes->integer("ceil_mode", 0) != 0 ? 18 : 7;
        },
    .downgrade = [](ir::Graph& graph, ir::NodeId node, int) -> Result<void> {
      graph.erase_attribute(node, "ceil_mode");
      return {};
    },
    .samples = {"f32[1,3,8,8]; kernel_shape=[2,2], strides=[2,2]", "f32[1,2,7,7]; kernel_shape=[3,3], pads=[1,1,1,1], p=1",
                "f32[2,3,9]; kernel_shape=[3], p=3", "f64[1,1,5,5]; kernel_shape=[2,2], auto_pad=SAME_UPPER",
                "f16[1,2,5,5]; kernel_shape=[3,3]"},
};

}  // namespace tenon::ops::op_lp_pool
