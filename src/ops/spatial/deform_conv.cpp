// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"
#include "ops/spatial/convolution.h"
#include "ops/spatial/interpolation.h"

namespace tenon::ops::op_deform_conv {

namespace {

enum Input : size_t { kX, kW, kOffset, kBias, kMask };

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, kX, is_arithmetic_float, "a float type"));
  for (size_t k : {kX, kW, kOffset}) TRY(require_rank(view, k, 4));
  TRY(infer_conv(view, kX, kW, kBias, dtype_of(view, kX)));
  if (!ranks_known(view, {kX, kW}) || !view.outputs[0].has_rank()) return {};
  const Type &x = view.type(kX), &w = view.type(kW), &y = view.outputs[0];
  const int64_t groups = view.attributes->integer("offset_group", 1);
  if (groups < 1) return refuse(view, Code::bad_attribute, "offset_group must be at least 1").found(std::to_string(groups));
  TRY(require_equal(view, floor_div(x.dim(1), groups) * groups, x.dim(1), "channels of X and a multiple of offset_group"));
  const Dim taps = w.dim(2) * w.dim(3) * groups;
  const auto require_taps = [&](size_t k, int64_t each, std::string_view what) -> Result<void> {
    TRY(require_rank(view, k, 4));
    if (!view.has(k) || !view.type(k).has_rank()) return {};
    return require_equal(view, *view.type(k).shape, DimList{x.dim(0), taps * each, y.dim(2), y.dim(3)}, what);
  };
  TRY(require_taps(kOffset, 2, "sizes of offset, and those that follow from X and W"));
  return require_taps(kMask, 1, "sizes of mask, and those that follow from X and W");
}

/// Bilinear interpolation between the four neighbours; elements outside of the image are 0.
double sample(const double* plane, double y, double x, int64_t height, int64_t width) {
  const double top = std::floor(y), left = std::floor(x);
  double sum = 0;
  for (int dy : {0, 1}) {
    for (int dx : {0, 1}) {
      const double row = top + dy, column = left + dx;
      if (!(row >= 0 && row < static_cast<double>(height) && column >= 0 && column < static_cast<double>(width))) continue;
      sum += (1 - std::abs(y - row)) * (1 - std::abs(x - column)) * plane[static_cast<int64_t>(row) * width + static_cast<int64_t>(column)];
    }
  }
  return sum;
}

Result<void> evaluate(Call& call) {
  const Tensor &x = *call.in[kX], &w = *call.in[kW];
  const Sizes data(x.shape().begin() + 2, x.shape().end()), kernel(w.shape().begin() + 2, w.shape().end());
  const WindowSizes s = TRY(window_sizes(call.view, data, kernel, false));
  const int64_t group = call.view.attributes->integer("group", 1), offset_group = call.view.attributes->integer("offset_group", 1);
  const int64_t batch = x.shape()[0], channels = x.shape()[1], outputs = w.shape()[0], per_group = w.shape()[1], taps = count_of(kernel),
                plane = count_of(s.out);
  if (group < 1 || offset_group < 1 || per_group * group != channels || channels % offset_group != 0 || outputs % group != 0 ||
      call.in[kOffset]->count() != batch * offset_group * taps * 2 * plane) {
    return refuse(call.view, Code::shape_mismatch, "X, W and offset do not fit");
  }
  const std::vector<double> from = numbers_of(x), weights = numbers_of(w), offsets = numbers_of(*call.in[kOffset]);
  const std::vector<double> masks = call.has(kMask) ? numbers_of(*call.in[kMask]) : std::vector<double>();
  Tensor& y = *TRY(call.make(0, {batch, outputs, s.out[0], s.out[1]}));
  for (int64_t i = 0; i < y.count(); ++i) {
    const int64_t n = i / (outputs * plane), m = i / plane % outputs, p = i % plane;
    double sum = call.has(kBias) ? call.in[kBias]->number(m) : 0;
    for (int64_t c = 0; c < per_group; ++c) {
      const int64_t channel = m / (outputs / group) * per_group + c, og = n * offset_group + channel / (channels / offset_group);
      for (int64_t tap = 0; tap < taps; ++tap) {
        const double dy = offsets[((og * taps + tap) * 2) * plane + p], dx = offsets[((og * taps + tap) * 2 + 1) * plane + p];
        const double row = static_cast<double>(p / s.out[1] * s.stride[0] - s.pads_begin[0] + tap / kernel[1] * s.dilation[0]) + dy;
        const double column = static_cast<double>(p % s.out[1] * s.stride[1] - s.pads_begin[1] + tap % kernel[1] * s.dilation[1]) + dx;
        const double v = sample(from.data() + (n * channels + channel) * count_of(data), row, column, data[0], data[1]);
        sum += v * weights[(m * per_group + c) * taps + tap] * (masks.empty() ? 1 : masks[(og * taps + tap) * plane + p]);
      }
    }
    y.set_number(i, sum);
  }
  return {};
}

/// The loop of the elements that each position of the kernel reads for each output position: [batch, channels, kernel rows, kernel columns,
/// rows, columns].
Result<Loop> sampled(const NodeView& view, const Windows& windows, const DimList& sizes, DType wide) {
  const Dim channels = view.type(kX).dim(1), per_offset = floor_div(channels, view.attributes->integer("offset_group", 1));
  const DimList& out = *view.outputs[0].shape;
  const DimList shape{out[0], channels, windows.kernel[0], windows.kernel[1], out[2], out[3]};
  Loop loop;
  loop.axes = parallel_axes(shape);
  const int64_t taps = windows.kernel[0] * windows.kernel[1];
  const Expr tap =
      Expr::axis(1) / size_expr(per_offset) * index_constant(taps) + Expr::axis(2) * index_constant(windows.kernel[1]) + Expr::axis(3);
  auto at_tap = [&](size_t operand, Expr channel) {
    return cast(load(loop, operand_access(view, operand, {Expr::axis(0), std::move(channel), Expr::axis(4), Expr::axis(5)})), wide);
  };
  std::vector<std::vector<Tap>> axes;
  for (int k = 0; k < 2; ++k) {
    const Expr place = Expr::axis(4 + k) * index_constant(windows.strides[k]) - size_expr(windows.pads_begin[k]) +
                       Expr::axis(2 + k) * index_constant(windows.dilations[k]);
    axes.push_back(linear_taps(cast(place, wide) + at_tap(kOffset, tap * index_constant(2) + index_constant(k)), sizes[k]));
  }
  Expr value = interpolated(loop, operand_access(view, kX, axis_indices(2)), axes, wide);
  if (view.has(kMask)) value = value * at_tap(kMask, tap);
  loop.outputs.push_back(full_output(wide, shape, value));
  return loop;
}

/// Three loops: the elements that the kernel reads, their sum over channels and kernel, the bias.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const DimList sizes = spatial_of(view.type(kX)), &out = *view.outputs[0].shape;
  const Windows windows = TRY(windows_of(view, sizes, TRY(kernel_of(view, kW))));
  const int64_t group = view.attributes->integer("group", 1);
  const DType dtype = view.outputs[0].dtype, wide = compute_dtype(dtype);
  const Dim per_group = view.type(kW).dim(1), outputs = floor_div(out[1], group);
  Loop first = TRY(sampled(view, windows, sizes, wide)), sum;
  sum.axes = parallel_axes({out[0], group, outputs, out[2], out[3]});
  for (const Dim& d : DimList{per_group, windows.kernel[0], windows.kernel[1]}) sum.axes.push_back({Axis::Kind::reduced, d});
  auto grouped = [](Dim size, int axis) { return simplify(Expr::axis(1) * size_expr(size) + Expr::axis(axis)); };
  const Expr channel = grouped(per_group, 5), output = grouped(outputs, 2), row = Expr::axis(6), column = Expr::axis(7);
  const Expr x = load(sum, loop_output_access(0, 0, wide, {Expr::axis(0), channel, row, column, Expr::axis(3), Expr::axis(4)}));
  const Expr w = to_compute_dtype(load(sum, operand_access(view, kW, {output, Expr::axis(5), row, column})));
  sum.outputs.push_back(full_output(wide, out, x * w));
  sum.outputs.back().combine = Combine::sum;
  sum.outputs.back().index = {Expr::axis(0), output, Expr::axis(3), Expr::axis(4)};
  if (dtype == wide && !view.has(kBias)) return loop_sequence_form({std::move(first), std::move(sum)});
  Loop last;
  last.axes = parallel_axes(out);
  Expr y = load(last, loop_output_access(1, 0, wide, axis_indices(4)));
  if (view.has(kBias)) y = y + to_compute_dtype(load(last, operand_access(view, kBias, {Expr::axis(1)})));
  last.outputs.push_back(full_output(dtype, out, y));
  return loop_sequence_form({std::move(first), std::move(sum), std::move(last)});
}

}  // namespace

OP(deform_conv) {
    .name = "DeformConv",
    .since_version = 22,
    .inputs = {{"X", "W", "offset", "B?", "mask?"}},
    .outputs = {{"Y"}},
    .attributes = {{"dilations: ints", "group: int = 1", "kernel_shape: ints", "offset_group: int = 1", "pads: ints", "strides: ints"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView&) { return 19; },
    .first_opset = 19,
    .samples = {{"f32[1,1,3,3], f32[1,1,2,2], f32[1,8,2,2], f32[1]",
                 "f32[1,2,5,5], f32[4,1,3,3], f32[1,36,5,5], _, f32[1,18,5,5]; group=2, offset_group=2, pads=[1,1,1,1]"}},
};

}  // namespace tenon::ops::op_deform_conv
