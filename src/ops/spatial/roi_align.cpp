// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/reference/indices.h"
#include "ops/spatial/interpolation.h"
#include "ops/versions/attributes.h"

namespace tenon::ops::op_roi_align {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  TRY(require_rank(view, 0, 4));
  TRY(require_rank(view, 1, 2));
  TRY(require_rank(view, 2, 1));
  Type out(dtype_of(view, 0));
  if (ranks_known(view, {0, 1})) {
    TRY(require_equal(view, view.type(1).dim(1), 4, "last dimension of rois and 4"));
    TRY(require_sizes(view, 2, {view.type(1).dim(0)}));
    for (int axis : {2, 3}) TRY(require_at_least(view, view.type(0).dim(axis), 1, "the data has no elements to align with"));
    out.shape = DimList{view.type(1).dim(0), view.type(0).dim(1), view.attributes->integer("output_height", 1),
                        view.attributes->integer("output_width", 1)};
  }
  set_output(view, 0, std::move(out));
  return {};
}

/// The four neighbours of a point and their weights; zero weights outside of the image.
struct Bilinear {
  std::array<int64_t, 4> at{};
  std::array<double, 4> weight{};
};

Bilinear neighbours(double y, double x, int64_t height, int64_t width) {
  Bilinear r;
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) return r;
  y = std::clamp(y, 0.0, static_cast<double>(height - 1));
  x = std::clamp(x, 0.0, static_cast<double>(width - 1));
  const int64_t top = static_cast<int64_t>(y), left = static_cast<int64_t>(x), bottom = std::min(top + 1, height - 1),
                right = std::min(left + 1, width - 1);
  const double dy = y - static_cast<double>(top), dx = x - static_cast<double>(left);
  r.at = {top * width + left, top * width + right, bottom * width + left, bottom * width + right};
  r.weight = {(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx};
  return r;
}

Result<void> evaluate(Call& call) {
  const Tensor &t = *call.in[0], &rois = *call.in[1];
  const ir::Attributes& a = *call.view.attributes;
  const int64_t channels = t.shape()[1], height = t.shape()[2], width = t.shape()[3], rows = a.integer("output_height", 1),
                columns = a.integer("output_width", 1);
  const double scale = a.number("spatial_scale", 1);
  const bool half = a.text("coordinate_transformation_mode", "half_pixel") == "half_pixel", average = a.text("mode", "avg") == "avg";
  const int64_t ratio = a.integer("sampling_ratio", 0);
  if (height < 1 || width < 1) return refuse(call.view, Code::shape_mismatch, "the data has no elements to align with");
  const std::vector<double> x = numbers_of(t), boxes = numbers_of(rois);
  Tensor& out = *TRY(call.make(0, {rois.shape()[0], channels, rows, columns}));
  for (int64_t n = 0; n < rois.shape()[0]; ++n) {
    const int64_t batch = TRY(wrap_index(call.view, call.in[2]->integer(n), t.shape()[0]));
    double corner[4];
    for (int k = 0; k < 4; ++k) corner[k] = boxes[n * 4 + k] * scale - (half ? 0.5 : 0);
    double w = corner[2] - corner[0], h = corner[3] - corner[1];
    if (!half) {
      w = std::fmax(w, 1);
      h = std::fmax(h, 1);
    }
    const double bin_h = h / static_cast<double>(rows), bin_w = w / static_cast<double>(columns);
    if (!(bin_h < 0x1p16 && bin_w < 0x1p16)) return refuse(call.view, Code::bad_input, "a region of interest is too large");
    const int64_t grid_h = ratio > 0 ? ratio : static_cast<int64_t>(std::ceil(bin_h)),
                  grid_w = ratio > 0 ? ratio : static_cast<int64_t>(std::ceil(bin_w));
    for (int64_t i = 0; i < channels * rows * columns; ++i) {
      const int64_t c = i / (rows * columns), row = i / columns % rows, column = i % columns;
      const double* plane = x.data() + (batch * channels + c) * height * width;
      double sum = 0, top = -INFINITY;
      for (int64_t p = 0; p < grid_h * grid_w; ++p) {
        const double y_at =
            corner[1] + (static_cast<double>(row) + (static_cast<double>(p / grid_w) + 0.5) / static_cast<double>(grid_h)) * bin_h;
        const double x_at =
            corner[0] + (static_cast<double>(column) + (static_cast<double>(p % grid_w) + 0.5) / static_cast<double>(grid_w)) * bin_w;
        const Bilinear near = neighbours(y_at, x_at, height, width);
        for (int k = 0; k < 4; ++k) {
          sum += near.weight[k] * plane[near.at[k]];
          top = std::fmax(top, near.weight[k] * plane[near.at[k]]);
        }
      }
      const double count = static_cast<double>(std::max<int64_t>(grid_h * grid_w, 1));
      out.set_number(n * channels * rows * columns + i, average ? sum / count : grid_h * grid_w > 0 ? top : 0);
    }
  }
  return {};
}

/// Coordinates of one sample along an axis (0: rows), clamped to the image; `valid`: the sample is at most one pixel outside.
struct SampleForm {
  std::vector<Tap> taps;
  Expr valid;
};

SampleForm sample_form(const NodeView& view, Loop& loop, int axis, int64_t ratio) {
  const ir::Attributes& a = *view.attributes;
  const bool half = a.text("coordinate_transformation_mode", "half_pixel") == "half_pixel";
  const Expr scale(a.number("spatial_scale", 1));
  auto corner = [&](int k) {
    const Expr c = to_compute_dtype(load(loop, operand_access(view, 1, {Expr::axis(0), index_constant(k)}))) * scale;
    return half ? c - 0.5 : c;
  };
  const Expr low = corner(1 - axis), high = corner(3 - axis), length = half ? high - low : max(high - low, 1);
  auto number = [&](Expr e) { return cast(e, low.dtype()); };
  const Dim size = view.type(0).dim(2 + axis);
  const Expr bin = length / number(size_expr(view.outputs[0].dim(2 + axis)));
  const Expr at = low + (number(Expr::axis(2 + axis)) + (number(Expr::axis(4 + axis)) + 0.5) / static_cast<double>(ratio)) * bin;
  const Expr last = size_expr(size) - index_constant(1), x = max(min(at, number(last)), 0), base = unary(ExprOp::floor, x), r = x - base;
  const Expr first = cast(base, DType::i64);
  return {{{first, 1 - r, {}}, {min(first + index_constant(1), last), r, {}}}, logical_and(-1 <= at, at <= number(size_expr(size)))};
}

/// The loop form, for a fixed sampling_ratio; else the number of samples depends on the boxes, which no loop extent can.
Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const ir::Attributes& a = *view.attributes;
  const int64_t ratio = a.integer("sampling_ratio", 0);
  if (ratio <= 0) return refuse(view, Code::not_supported, "not supported yet: a loop form with sampling_ratio=0");
  const bool average = a.text("mode", "avg") == "avg";
  const Type& y = view.outputs[0];
  const DType wide = compute_dtype(y.dtype);
  Loop loop;
  loop.axes = parallel_axes(*y.shape);
  for (int k = 0; k < 2; ++k) loop.axes.push_back({Axis::Kind::reduced, ratio});
  const Expr picture = wrapped_index(load(loop, operand_access(view, 2, {Expr::axis(0)})), view.type(0).dim(0));
  const SampleForm rows = sample_form(view, loop, 0, ratio), columns = sample_form(view, loop, 1, ratio);
  Access source = operand_access(view, 0, {picture, Expr::axis(1)});
  source.within = logical_and(rows.valid, columns.valid);
  Expr value;
  for (const Tap& row : rows.taps)
    for (const Tap& column : columns.taps) {
      const std::vector<Tap> one[] = {{row}, {column}};
      const Expr term = interpolated(loop, source, one, wide);
      value = !value ? term : average ? value + term : max(value, term);
    }
  if (average) value = value / static_cast<double>(ratio * ratio);
  loop.outputs.push_back(full_output(wide, *y.shape, value));
  loop.outputs.back().combine = average ? Combine::sum : Combine::max;
  if (wide == y.dtype) return single_loop_form(std::move(loop));
  Loop last;
  last.axes = parallel_axes(*y.shape);
  const Expr result = load(last, loop_output_access(0, 0, wide, axis_indices(4)));
  last.outputs.push_back(full_output(y.dtype, *y.shape, result));
  return loop_sequence_form({std::move(loop), std::move(last)});
}

/// Before opset 16 coordinates have no half pixel shift.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset < 16) default_attribute(graph, node, "coordinate_transformation_mode", std::string("output_half_pixel"));
  return {};
}

}  // namespace

OP(roi_align) {
    .name = "RoiAlign",
    .since_version = 22,
    .inputs = {{"X", "rois", "batch_indices"}},
    .outputs = {{"Y"}},
    .attributes = {{"coordinate_transformation_mode: string = half_pixel since 16", "mode: string = avg", "output_height: int = 1",
                    "output_width: int = 1", "sampling_ratio: int = 0", "spatial_scale: float = 1.0"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .upgrade = upgrade,
    .lowest_opset = [](const NodeView&) { return 16; },
    .first_opset = 10,
    .samples = {{"f32[1,2,6,6], f32[2,4] = [0,0,4,4,1,1,5,3], i64[2] = [0,0]; output_height=2, output_width=3, sampling_ratio=2",
                 "f32[2,1,8,8], f32[1,4] = [0,0,7,7], i64[1] = [1]; "
                 "output_height=2, output_width=2, mode=max, coordinate_transformation_mode=output_half_pixel"}},
};

}  // namespace tenon::ops::op_roi_align
