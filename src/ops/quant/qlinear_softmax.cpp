// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/definition.h"

namespace tenon::ops::op_qlinear_softmax {

namespace {

/// Attribute `opset` below 13: all axes from `axis` on are one row.
ir::ValueId softmax(ir::Builder& build, const NodeView& view, ir::ValueId x) {
  const bool flat = view.attributes->integer("opset", 13) < 13;
  const int64_t axis = view.attributes->integer("axis", flat ? 1 : -1);
  if (!flat) return build("Softmax", {x}, {{"axis", axis}});
  const ir::ValueId rows = build("Softmax", {build("Flatten", {x}, {{"axis", axis}})}, {{"axis", int64_t{-1}}});
  return build("Reshape", {rows, build("Shape", {x})}, {{"allowzero", int64_t{1}}});
}

}  // namespace

OP(qlinear_softmax) {
    .name = "QLinearSoftmax",
    .domain = "com.microsoft",
    .inputs = {{"X", "X_scale", "x_zero_point?", "y_scale", "y_zero_point"}},
    .outputs = {{"Y"}},
    .attributes = {{"axis: int", "opset: int!"}},
    .infer = infer_quantized<0>,
    .definition = define_quantized_map<softmax>,
    .samples = {{"u8[2,5] in 0..255, f32[] = 0.02, u8[] = 128, f32[] = 0.004, u8[] = 0; opset=13, axis=-1",
                 "i8[2,3,4] in -128..127, f32[] = 0.02, i8[] = 3, f32[] = 0.004, i8[] = -128; opset=13, axis=1",
                 "u8[2,3,4] in 0..255, f32[] = 0.02, _, f32[] = 0.004, u8[] = 0; opset=12, axis=1"}},
};

}  // namespace tenon::ops::op_qlinear_softmax
