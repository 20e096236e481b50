// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"
#include "ops/reference/indices.h"

namespace tenon::ops::op_crop_and_resize {

namespace {

enum Input : size_t { kX, kRois, kBatch, kSize };

Result<void> infer(NodeView& view) {
  const std::string mode = view.attributes->text("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest")
    return refuse(view, Code::bad_attribute, "there is no such mode").expected("bilinear or nearest").found(mode);
  TRY(require_dtype(view, kX, is_arithmetic_float, "a float type"));
  TRY(require_same_dtype(view, kX, kRois));
  TRY(require_dtype(view, kBatch, is_index, "i32 or i64"));
  TRY(require_dtype(view, kSize, is_index, "i32 or i64"));
  TRY(require_rank(view, kX, 4));
  TRY(require_rank(view, kRois, 2));
  TRY(require_rank(view, kBatch, 1));
  TRY(require_sizes(view, kSize, {2}));
  Type out(dtype_of(view, kX));
  if (ranks_known(view, {kX, kRois})) {
    TRY(require_equal(view, view.type(kRois).dim(1), 4, "last dimension of rois and 4"));
    TRY(require_sizes(view, kBatch, {view.type(kRois).dim(0)}));
    const auto size = known_elements(view, kSize);
    const auto part = [&](size_t k) { return size ? (*size)[k] : view.symbols->fresh(); };
    out.shape = DimList{view.type(kRois).dim(0), view.type(kX).dim(1), part(0), part(1)};
  }
  set_output(view, 0, std::move(out));
  return {};
}

/// The coordinates of the samples along one axis: from `low` to `high` of the image, the middle for a single one.
double place(double low, double high, int64_t k, int64_t count, int64_t size) {
  const double last = static_cast<double>(size - 1);
  if (count == 1) return 0.5 * (low + high) * last;
  return low * last + static_cast<double>(k) * ((high - low) * last / static_cast<double>(count - 1));
}

double sample(const double* plane, int64_t height, int64_t width, double y, double x, bool nearest) {
  const auto at = [&](double row, double column) { return plane[static_cast<int64_t>(row) * width + static_cast<int64_t>(column)]; };
  if (nearest) return at(std::round(y), std::round(x));
  const double top = std::floor(y), bottom = std::fmin(top + 1, static_cast<double>(height - 1)), left = std::floor(x),
               right = std::fmin(left + 1, static_cast<double>(width - 1)), down = y - top, along = x - left;
  const double above = at(top, left) + (at(top, right) - at(top, left)) * along;
  const double below = at(bottom, left) + (at(bottom, right) - at(bottom, left)) * along;
  return above + (below - above) * down;
}

Result<void> evaluate(Call& call) {
  const Tensor &t = *call.in[kX], &rois = *call.in[kRois];
  const int64_t channels = t.shape()[1], height = t.shape()[2], width = t.shape()[3];
  const Ints size = ints_of(call, kSize);
  if (size[0] < 1 || size[1] < 1)
    return refuse(call.view, Code::bad_input, "crop_size must be positive")
        .expected("two sizes of 1 or more")
        .found(std::to_string(size[0]) + " and " + std::to_string(size[1]));
  if (height < 1 || width < 1) return refuse(call.view, Code::shape_mismatch, "the pictures have no elements");
  const bool nearest = call.view.attributes->text("mode", "bilinear") == "nearest";
  const double outside = call.view.attributes->number("extrapolation_value", 0);
  const std::vector<double> x = numbers_of(t), boxes = numbers_of(rois);
  Tensor& out = *TRY(call.make(0, {rois.shape()[0], channels, size[0], size[1]}));
  for (int64_t n = 0; n < rois.shape()[0]; ++n) {
    const int64_t batch = TRY(wrap_index(call.view, call.in[kBatch]->integer(n), t.shape()[0]));
    const double* box = boxes.data() + n * 4;  // top, left, bottom, right
    for (int64_t i = 0; i < channels * size[0] * size[1]; ++i) {
      const int64_t c = i / (size[0] * size[1]), row = i / size[1] % size[0], column = i % size[1];
      const double at_y = place(box[0], box[2], row, size[0], height), at_x = place(box[1], box[3], column, size[1], width);
      const bool inside = at_y >= 0 && at_y <= static_cast<double>(height - 1) && at_x >= 0 && at_x <= static_cast<double>(width - 1);
      const double* plane = x.data() + (batch * channels + c) * height * width;
      out.set_number((n * channels * size[0] * size[1]) + i, inside ? sample(plane, height, width, at_y, at_x, nearest) : outside);
    }
  }
  return {};
}

/// Coordinates of the samples along one axis of the images: [boxes, samples].
struct Samples {
  ir::ValueId first, second;  ///< neighbours, i64
  ir::ValueId part;           ///< of the way to the second; none for the nearest
  ir::ValueId inside;         ///< of the picture, bool
};

Samples samples_along(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in, int axis) {
  const DType dtype = view.type(kX).dtype;
  const auto number = [&](double value) { return build.scalar(dtype, value); };
  const auto corner = [&](int64_t k) { return sliced(build, in[kRois], 1, k, k + 1); };
  const ir::ValueId count = build("Squeeze", {cast_to(build, sliced(build, in[kSize], 0, axis, axis + 1), DType::i64), build.ints({0})});
  const ir::ValueId counted = cast_to(build, count, dtype),
                    end = build("Sub", {size_of(build, in[kX], 2 + axis), build.scalar(DType::i64, 1)});
  const ir::ValueId last = cast_to(build, end, dtype), low = corner(axis), high = corner(2 + axis);
  const ir::ValueId gaps = build("Max", {build("Sub", {counted, number(1)}), number(1)});
  const ir::ValueId step = build("Div", {build("Mul", {build("Sub", {high, low}), last}), gaps});
  const ir::ValueId positions = cast_to(build, iota(build, count), dtype);
  const ir::ValueId several = build("Add", {build("Mul", {low, last}), build("Mul", {positions, step})});
  const ir::ValueId middle = build("Mul", {build("Mul", {build("Add", {low, high}), number(0.5)}), last});
  const ir::ValueId at = build("Where", {build("Equal", {count, build.scalar(DType::i64, 1)}), middle, several});
  const ir::ValueId inside = build("And", {build("GreaterOrEqual", {at, number(0)}), build("LessOrEqual", {at, last})});
  const ir::ValueId clamped = build("Min", {build("Max", {at, number(0)}), last});
  if (view.attributes->text("mode", "bilinear") == "nearest")
    return {cast_to(build, build("Floor", {build("Add", {clamped, number(0.5)})}), DType::i64), {}, {}, inside};
  const ir::ValueId floor = build("Floor", {clamped}), first = cast_to(build, floor, DType::i64);
  const ir::ValueId second = build("Min", {build("Add", {first, build.scalar(DType::i64, 1)}), end});
  return {first, second, build("Sub", {clamped, floor}), inside};
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!ranks_known(view, {kX, kRois, kBatch, kSize})) return {};
  const Samples rows = samples_along(build, view, in, 0), columns = samples_along(build, view, in, 1);
  const ir::ValueId pictures = build("Transpose", {in[kX]}, {{"perm", ir::Ints{0, 2, 3, 1}}});
  const auto spread = [&](ir::ValueId x, ir::Ints axes) { return build("Unsqueeze", {x, build.ints(std::move(axes))}); };
  const ir::ValueId batch = spread(cast_to(build, in[kBatch], DType::i64), {1, 2});
  const auto pixels = [&](ir::ValueId row, ir::ValueId column) {  // [boxes, rows, columns, channels]
    const ir::ValueId y = spread(row, {2}), x = spread(column, {1});
    const ir::ValueId zero = build("Mul", {build("Add", {y, x}), build.scalar(DType::i64, 0)});
    const auto index = [&](ir::ValueId of) { return spread(build("Add", {of, zero}), {3}); };
    return build("GatherND", {pictures, build("Concat", {index(batch), index(y), index(x)}, {{"axis", int64_t{3}}})});
  };
  const auto between = [&](ir::ValueId a, ir::ValueId b, ir::ValueId part) {
    return build("Add", {a, build("Mul", {build("Sub", {b, a}), part})});
  };
  ir::ValueId y = pixels(rows.first, columns.first);
  if (rows.part) {
    const ir::ValueId along = spread(columns.part, {1, 3}), down = spread(rows.part, {2, 3});
    const ir::ValueId above = between(y, pixels(rows.first, columns.second), along);
    y = between(above, between(pixels(rows.second, columns.first), pixels(rows.second, columns.second), along), down);
  }
  const ir::ValueId inside = build("And", {spread(rows.inside, {2, 3}), spread(columns.inside, {1, 3})});
  const ir::ValueId outside = build.scalar(view.type(kX).dtype, view.attributes->number("extrapolation_value", 0));
  return {build("Transpose", {build("Where", {inside, y, outside})}, {{"perm", ir::Ints{0, 3, 1, 2}}})};
}

}  // namespace

/// Crops boxes (in fractions of height and width) of images and resizes them to one size. Source: CropAndResize of TensorFlow.
OP(crop_and_resize) {
    .name = "CropAndResize",
    .domain = "com.microsoft",
    .inputs = {{"X", "rois", "batch_indices", "crop_size"}},
    .outputs = {{"Y"}},
    .attributes = {{"extrapolation_value: float = 0.0", "mode: string = bilinear"}},
    .infer = infer,
    .reference = evaluate,
    .definition = define,
    .samples = {{"f32[2,3,5,6], f32[2,4] = [0,0,1,1, 0.2,0.1,0.9,0.7], i32[2] = [1,0], i32[2] = [3,4]",
                 "f32[1,2,4,4], f32[2,4] = [-0.5,0,1.5,1, 0.9,0.8,0.1,0.2], i32[2] = [0,0], i32[2] = [4,3]; extrapolation_value=7.5",
                 "f32[1,2,4,4], f32[1,4] = [0.1,0.2,0.8,0.9], i32[1] = [0], i32[2] = [3,3]; mode=nearest",
                 "f32[1,1,4,4], f32[1,4] = [0.1,0.2,0.8,0.9], i32[1] = [0], i32[2] = [1,1]"}},
};

}  // namespace tenon::ops::op_crop_and_resize
