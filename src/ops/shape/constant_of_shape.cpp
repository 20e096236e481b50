// SPDX-License-Identifier: Apache-2.0
#include "ir/shape_data.h"
#include "ops/core/refuse.h"
#include "ops/form/loops.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/arguments.h"

namespace tenon::ops::op_constant_of_shape {

namespace {

Tensor fill_of(const NodeView& view) {
  const ir::Attribute* value = view.attributes->find("value");
  const Tensor* tensor = value ? std::get_if<Tensor>(value) : nullptr;
  return tensor && tensor->count() == 1 ? *tensor : Tensor::scalar(DType::f32, 0);
}

Result<void> infer_filled(NodeView& view) {
  const Tensor fill = fill_of(view);
  Type type(fill.dtype());
  if (const auto wanted = known_elements(view, 0)) {
    for (Dim d : *wanted) {
      if (d.is_number() && d.value() < 0) return refuse(view, Code::shape_mismatch, "a size is negative").found(d.text());
    }
    type.shape = *wanted;
  } else if (const auto length = known_length(view, 0)) {
    DimList shape;
    for (int64_t i = 0; i < *length; ++i) shape.push_back(view.symbols->fresh());
    type.shape = std::move(shape);
  }
  set_output(view, 0, type);
  if (!type.has_rank() || is_float(fill.dtype())) return {};
  const Dim count = type.count();
  if (count.is_number() && count.value() <= static_cast<int64_t>(ir::kMaxShapeData)) {
    if (const auto element = ir::shape_data_of(fill)) set_data(view, 0, ShapeData(static_cast<size_t>(count.value()), element->front()));
  }
  return {};
}

Result<LoopForm> form_of_filled(const NodeView& view) {
  TRY(require_known_ranks(view));
  const Tensor fill = fill_of(view);
  const Type& result = view.outputs[0];
  Loop loop;
  loop.axes = parallel_axes(*result.shape);
  const Expr value = is_float(fill.dtype()) ? Expr::constant(fill.dtype(), fill.number(0)) : Expr::integer(fill.dtype(), fill.integer(0));
  loop.outputs.push_back(full_output(result.dtype, *result.shape, value));
  return single_loop_form(std::move(loop));
}

Result<void> reference_of_filled(Call& call) {
  const Tensor fill = fill_of(call.view);
  const Sizes shape = ints_of(call, 0);
  if (!checked_count(shape)) return refuse(call.view, Code::shape_mismatch, "the wanted shape is negative or too large");
  Tensor* out = TRY(call.make(0, shape));
  if (is_float(fill.dtype())) store_numbers(*out, std::vector<double>(static_cast<size_t>(out->count()), fill.number(0)));
  else store_integers(*out, std::vector<int64_t>(static_cast<size_t>(out->count()), fill.integer(0)));
  return {};
}

}  // namespace

OP(constant_of_shape) {
    .name = "ConstantOfShape",
    .since_version = 25,
    .inputs = {{"input"}},
    .attributes = {{"value: tensor"}},
    .infer = infer_filled,
    .loop_form = form_of_filled,
    .reference = reference_of_filled,
    .first_opset = 9,
    .samples = {{"i64[2] = [2, 3]", "i64[1] = [4]; value=i64[1] = [7]", "i64[0] = []; value=f16[1] = [1.5]",
                 "i64[2] = [0, 3]; value=bool[1] = [1]", "i64[1] = [3]; value=f64[1] = [-inf]"}},
};

}  // namespace tenon::ops::op_constant_of_shape
