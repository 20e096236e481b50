// SPDX-License-Identifier: Apache-2.0
// Resize where an element has no fixed list of neighbours (antialias, exclude_outside, a crop): each axis as a product with a matrix.
#include <algorithm>
#include <numeric>

#include "ops/core/refuse.h"
#include "ops/definition/plain_ops.h"
#include "ops/form/loops.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/elements.h"
#include "ops/reference/evaluate.h"
#include "ops/spatial/resized_axes.h"

namespace tenon::ops {

using ir::ValueId;

namespace {

enum ResizeOperand : size_t { kImage, kRoi, kScales, kSizes };
constexpr int64_t kMatrixElements = int64_t{1} << 24;

/// The matrix of a resize of one axis, f64[in, out]: row k is the resized unit vector k.
Result<Tensor> matrix_of(const NodeView& view, const ResizedAxis& axis, int64_t index) {
  const int64_t in = axis.in.value();
  Tensor units = TRY(Tensor::make(DType::f64, {in, in}));
  for (int64_t i = 0; i < in; ++i) units.set_number(i * in + i, 1);
  ir::Graph graph(*view.ops);
  ir::Builder build(graph);
  std::vector<ValueId> operands{build.constant(std::move(units)), {}, {}, {}};
  auto constant = [&](ResizeOperand k) {
    const Tensor* given = view.has(k) ? view.inputs[k].constant : nullptr;
    return given && given->count() > 0 ? given : nullptr;
  };
  if (const Tensor* given = constant(kRoi)) {
    Tensor roi = TRY(Tensor::make(DType::f32, {2}));
    for (int64_t k : {0, 1}) roi.set_number(k, given->number(index + k * given->count() / 2));
    operands[kRoi] = build.constant(std::move(roi));
  }
  if (const Tensor* given = constant(kScales)) {
    Tensor scale = TRY(Tensor::make(DType::f32, {1}));
    scale.set_number(0, given->number(index));
    operands[kScales] = build.constant(std::move(scale));
  } else {
    operands[kSizes] = build.ints({axis.out.value()});
  }
  std::vector<std::pair<std::string, ir::Attribute>> attributes(view.attributes->begin(), view.attributes->end());
  std::erase_if(attributes, [](const auto& a) { return a.first == "axes"; });
  attributes.emplace_back("axes", Ints{1});
  const ValueId y = build("Resize", operands, std::move(attributes));
  TRY(build.status());
  graph.add_output(y);
  return TRY(evaluate(graph, {}))[0];
}

bool is_fixed(const ResizedAxis& a) {
  return a.known && a.in.is_number() && a.out.is_number() && a.in.value() > 0 && a.out.value() > 0 && a.in.value() < kMatrixElements &&
         a.in.value() * a.in.value() <= kMatrixElements && a.out.value() <= kMatrixElements / a.in.value();
}

}  // namespace

std::vector<ValueId> define_resize(ir::Builder& build, const NodeView& view, std::span<const ValueId> in) {
  const ir::Attributes& a = *view.attributes;
  if (!view.type(kImage).has_rank() || !is_arithmetic_float(dtype_of(view, kImage)) ||
      a.text("keep_aspect_ratio_policy", "stretch") != "stretch")
    return {};
  const bool crops = a.text("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  if (crops && (a.number("extrapolation_value", 0) != 0 || !view.has(kRoi))) return {};
  for (size_t k : {kRoi, kScales})
    if (view.has(k) && known_length(view, k) != 0 && !view.inputs[k].constant) return {};
  const auto axes = resized_axes(view, kScales, kSizes);
  if (!axes) return {};
  const DType dtype = dtype_of(view, kImage), wide = compute_dtype(dtype);
  ValueId x = cast_to(build, in[kImage], wide);
  for (size_t k = 0; k < axes->size(); ++k) {
    const ResizedAxis& axis = (*axes)[k];
    if (axis.known && axis.above.known_equal(axis.below) && !crops) continue;
    auto matrix = is_fixed(axis) ? matrix_of(view, axis, static_cast<int64_t>(k))
                                 : std::unexpected(refuse(view, Code::not_supported, "a size is not known"));
    if (!matrix) return {};
    auto weights = converted(*matrix, wide);
    if (!weights) return {};
    Ints order(static_cast<size_t>(view.rank(kImage)));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[static_cast<size_t>(axis.axis)], order.back());
    const bool transposes = axis.axis != view.rank(kImage) - 1;
    if (transposes) x = transposed(build, x, order);
    x = build("MatMul", {x, build.constant(std::move(*weights))});
    if (transposes) x = transposed(build, x, order);
  }
  return {cast_to(build, x, dtype)};
}

}  // namespace tenon::ops
