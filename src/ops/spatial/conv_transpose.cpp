// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"
#include "ops/spatial/convolution.h"

namespace tenon::ops::op_conv_transpose {

namespace {

struct Geometry {
  Ints kernel, stride, dilation;
  DimList pads_begin, out;
};

Result<Geometry> geometry_of(const NodeView& view, const DimList& sizes) {
  const size_t n = sizes.size();
  const ir::Attributes& a = *view.attributes;
  Geometry g{TRY(kernel_of(view, 1)), a.ints("strides", Ints(n, 1)), a.ints("dilations", Ints(n, 1)), {}, {}};
  const Ints extra = a.ints("output_padding", Ints(n, 0)), pads = a.ints("pads", Ints(2 * n, 0)), shape = a.ints("output_shape");
  if (g.kernel.size() != n || g.stride.size() != n || g.dilation.size() != n || extra.size() != n || pads.size() != 2 * n ||
      (!shape.empty() && shape.size() != n)) {
    return refuse(view, Code::bad_attribute,
                  "kernel_shape, strides, dilations, pads, output_padding and output_shape must fit the spatial axes");
  }
  const std::string mode = a.text("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  for (size_t i = 0; i < n; ++i) {
    const Dim full = (sizes[i] - 1) * g.stride[i] + extra[i] + (g.kernel[i] - 1) * g.dilation[i] + 1;
    if (shape.empty() && !same) {
      const bool given = mode == "NOTSET";
      g.pads_begin.push_back(given ? pads[i] : 0);
      g.out.push_back(given ? full - pads[i] - pads[n + i] : full);
      continue;
    }
    g.out.push_back(shape.empty() ? sizes[i] * g.stride[i] : Dim(shape[i]));
    const Dim total = max(full - g.out[i], 0);
    const Dim half = floor_div(total, 2);
    g.pads_begin.push_back(mode == "SAME_UPPER" ? half : total - half);
  }
  return g;
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_same_dtype(view, 0, 1));
  TRY(require_rank(view, 0, 2, -1));
  Type out(dtype_of(view, 0));
  if (ranks_known(view, {0, 1})) {
    const Type &x = view.type(0), &w = view.type(1);
    const int64_t group = view.attributes->integer("group", 1);
    if (group < 1) return refuse(view, Code::bad_attribute, "group must be at least 1");
    if (x.rank() != w.rank())
      return refuse(view, Code::rank_mismatch, "data and weights differ in rank").expected(x.text()).found(w.text());
    TRY(require_equal(view, x.dim(1), w.dim(0), "channels of X and of W"));
    out.shape = DimList{x.dim(0), w.dim(1) * group};
    if (view.has(2) && view.type(2).has_rank())
      TRY(require_equal(view, view.type(2).count(), (*out.shape)[1], "size of the bias and output channels"));
    for (const Dim& d : TRY(geometry_of(view, spatial_of(x))).out) out.shape->push_back(d);
  }
  set_output(view, 0, std::move(out));
  return {};
}

/// The loop form, as a gather: position o sums x[(o + pads_begin - k * dilation) / stride] * w[k] over the kernel where the division is
/// exact.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Type &x = view.type(0), &w = view.type(1);
  const DimList sizes = spatial_of(x), &shape = *view.outputs[0].shape;
  const Geometry g = TRY(geometry_of(view, sizes));
  const int64_t group = view.attributes->integer("group", 1);
  const int n = static_cast<int>(sizes.size());
  Loop loop;
  loop.axes = {{Axis::Kind::parallel, shape[0]}, {Axis::Kind::parallel, group}, {Axis::Kind::parallel, w.dim(1)}};
  for (int i = 0; i < n; ++i) loop.axes.push_back({Axis::Kind::parallel, shape[2 + i]});
  const Dim per_group = floor_div(x.dim(1), group);
  loop.axes.push_back({Axis::Kind::reduced, per_group});
  for (int64_t k : g.kernel) loop.axes.push_back({Axis::Kind::reduced, k});
  const int c = 3 + n;
  auto grouped = [](Dim size, Expr within) { return simplify(Expr::axis(1) * size_expr(size) + within); };
  const Expr channel = grouped(per_group, Expr::axis(c)), out_channel = grouped(w.dim(1), Expr::axis(2));
  std::vector<Expr> at{Expr::axis(0), channel}, tap{channel, Expr::axis(2)}, to{Expr::axis(0), out_channel};
  Expr within;
  for (int i = 0; i < n; ++i) {
    const Expr k = Expr::axis(c + 1 + i), stride = index_constant(g.stride[i]);
    const Expr p = Expr::axis(3 + i) + size_expr(g.pads_begin[i]) - k * index_constant(g.dilation[i]);
    const Expr from = g.stride[i] == 1 ? p : p / stride;
    Expr inside = logical_and(index_constant(0) <= p, from < size_expr(sizes[i]));
    if (g.stride[i] != 1) inside = logical_and(inside, equal(binary(ExprOp::mod, p, stride), index_constant(0)));
    within = within ? logical_and(within, inside) : inside;
    at.push_back(from);
    tap.push_back(k);
    to.push_back(Expr::axis(3 + i));
  }
  Access access = operand_access(view, 0, std::move(at));
  access.within = within;
  if (within) access.fill = Expr::constant(access.dtype, 0);
  const Expr product =
      to_compute_dtype(load(loop, std::move(access))) * to_compute_dtype(load(loop, operand_access(view, 1, std::move(tap))));
  ContractionEpilogue after;
  if (view.has(2)) after = [&](Expr sum, Loop& map) { return sum + to_compute_dtype(load(map, operand_access(view, 2, {Expr::axis(1)}))); };
  return contraction_form(std::move(loop), product, view.outputs[0].dtype, shape, after, to);
}

/// The reference, as a scatter: each element of X times the weights is added to the positions that it contributes to.
Result<void> evaluate(Call& call) {
  const Tensor &x = *call.in[0], &w = *call.in[1];
  const ir::Attributes& a = *call.view.attributes;
  const Sizes data(x.shape().begin() + 2, x.shape().end()), kernel(w.shape().begin() + 2, w.shape().end());
  const size_t n = data.size();
  const Ints stride = a.ints("strides", Ints(n, 1)), dilation = a.ints("dilations", Ints(n, 1)),
             extra = a.ints("output_padding", Ints(n, 0));
  const Ints pads = a.ints("pads", Ints(2 * n, 0)), wanted = a.ints("output_shape");
  const std::string mode = a.text("auto_pad", "NOTSET");
  const int64_t group = a.integer("group", 1), per_group = x.shape()[1] / group, outputs = w.shape()[1];
  Sizes shape{x.shape()[0], outputs * group}, pads_begin(n), out(n);
  for (size_t i = 0; i < n; ++i) {
    const int64_t full = (data[i] - 1) * stride[i] + extra[i] + (kernel[i] - 1) * dilation[i] + 1;
    const bool same = mode.starts_with("SAME");
    out[i] = !wanted.empty() ? wanted[i] : same ? data[i] * stride[i] : mode == "VALID" ? full : full - pads[i] - pads[n + i];
    const int64_t total = std::max<int64_t>(full - out[i], 0);
    pads_begin[i] = !wanted.empty() || same ? (mode == "SAME_UPPER" ? total / 2 : total - total / 2) : mode == "VALID" ? 0 : pads[i];
    shape.push_back(out[i]);
  }
  Tensor& y = *TRY(call.make(0, shape));
  std::vector<double> sum(y.count());
  const std::vector<double> from = numbers_of(x), weights = numbers_of(w);
  const int64_t plane = count_of(data), taps = count_of(kernel), out_plane = count_of(out);
  const Sizes steps = strides_of(out);
  for (int64_t p = 0; p < plane; ++p) {
    const Sizes at = index_of(p, data);
    for (int64_t tap = 0; tap < taps; ++tap) {
      const Sizes k = index_of(tap, kernel);
      int64_t target = 0;
      bool inside = true;
      for (size_t i = 0; i < n; ++i) {
        const int64_t o = at[i] * stride[i] + k[i] * dilation[i] - pads_begin[i];
        inside = inside && o >= 0 && o < out[i];
        target += o * steps[i];
      }
      if (!inside) continue;
      for (int64_t b = 0; b < shape[0]; ++b)
        for (int64_t c = 0; c < x.shape()[1]; ++c)
          for (int64_t m = 0; m < outputs; ++m)
            sum[((b * group + c / per_group) * outputs + m) * out_plane + target] +=
                from[(b * x.shape()[1] + c) * plane + p] * weights[(c * outputs + m) * taps + tap];
    }
  }
  if (call.has(2))
    for (int64_t i = 0; i < y.count(); ++i) sum[i] += call.in[2]->number(i / out_plane % shape[1]);
  store_numbers(y, sum);
  return {};
}

}  // namespace

OP(conv_transpose) {
    .name = "ConvTranspose",
    .since_version = 22,
    .inputs = {{"X", "W", "B?"}},
    .outputs = {{"Y"}},
    .attributes = {{"auto_pad: string = NOTSET", "dilations: ints", "group: int = 1", "kernel_shape: ints", "output_padding: ints",
                    "output_shape: ints", "pads: ints", "strides: ints"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return view.type(0).dtype == DType::bf16 ? 22 : 7; },
    .samples = {{"f32[1,2,3,3], f32[2,4,3,3]", "f32[1,2,4,5], f32[2,3,2,2], f32[3]; strides=[2,2]",
                 "f32[1,2,3,3], f32[2,2,3,3]; strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]",
                 "f32[1,4,3,3], f32[4,2,3,3], f32[4]; group=2", "f32[2,2,5], f32[2,3,3]; strides=[3], dilations=[2]",
                 "f32[1,1,3,3], f32[1,2,3,3]; strides=[3,2], output_shape=[10,8]",
                 "f32[1,1,3,3], f32[1,2,3,3]; strides=[2,2], auto_pad=SAME_UPPER", "f16[1,3,4,4], f16[3,2,2,2]",
                 "f32[1,1,2,3,2], f32[1,2,2,2,2]"}},
};

}  // namespace tenon::ops::op_conv_transpose
