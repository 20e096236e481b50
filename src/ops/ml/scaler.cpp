// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/plain_ops.h"
#include "ops/infer/require.h"
#include "ops/ml/features.h"

namespace tenon::ops::op_scaler {

namespace {

/// A constant vector of the values of an attribute: one, or one for each feature, broadcast along the last axis.
ir::ValueId row(ir::Builder& build, DType dtype, const ir::Floats& values) {
  Tensor t = *Tensor::make(dtype, {static_cast<int64_t>(values.size())});
  store_numbers(t, std::vector<double>(values.begin(), values.end()));
  return build.constant(std::move(t));
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const DType wide = view.type(0).dtype == DType::f64 ? DType::f64 : DType::f32;
  const ir::Floats offset = view.attributes->floats("offset", {0.f}), scale = view.attributes->floats("scale", {1.f});
  const ir::ValueId centred = build("Sub", {cast_to(build, in[0], wide), row(build, wide, offset)});
  return {cast_to(build, build("Mul", {centred, row(build, wide, scale)}), DType::f32)};
}

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_feature_dtype, "f32, f64, i32 or i64"));
  TRY(require_rank(view, 0, 1, -1));
  for (const char* name : {"offset", "scale"}) {
    const auto count = static_cast<int64_t>(view.attributes->floats(name, {0.f}).size());
    if (count != 1 && view.type(0).has_rank()) TRY(require_equal(view, view.type(0).dim(-1), Dim(count), "features and numbers"));
  }
  Type type = view.type(0);
  type.dtype = DType::f32;
  set_output(view, 0, std::move(type));
  return {};
}

}  // namespace

OP(scaler) {
    .name = "Scaler",
    .domain = "ai.onnx.ml",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"offset: floats", "scale: floats"}},
    .infer = infer,
    .definition = define,
    .first_opset = 1,
    .samples = {{"f32[2,3]; offset=[0.5], scale=[2.0]", "f64[2,3]; offset=[0.5,1.0,-1.0], scale=[2.0,0.5,0.25]",
                 "i64[4,2] in -9..9; offset=[0.5,1.0], scale=[2.0,3.0]", "i32[3]; offset=[0.5], scale=[2.0]"}},
};

}  // namespace tenon::ops::op_scaler
