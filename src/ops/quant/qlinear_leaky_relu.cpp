// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/definition.h"

namespace tenon::ops::op_qlinear_leaky_relu {

OP(qlinear_leaky_relu) {
    .name = "QLinearLeakyRelu",
    .domain = "com.microsoft",
    .inputs = {{"X", "X_scale", "X_zero_point?", "Y_scale", "Y_zero_point?"}},
    .outputs = {{"Y"}},
    .attributes = {{"alpha: float = 0.01"}},
    .infer = infer_quantized<0>,
    .definition = define_quantized_map<[](ir::Builder& build, const NodeView& view, ir::ValueId x) {
      return build("LeakyRelu", {x}, {{"alpha", view.attributes->number("alpha", 0.01f)}});
    }>,
    .samples = {{"u8[2,3] in 0..255, f32[] = 0.05, u8[] = 128, f32[] = 0.04, u8[] = 30; alpha=0.2",
                 "i8[7] in -128..127, f32[1] = 0.04, i8[1] = 3, f32[1] = 0.04, i8[1] = -5"}},
};

}  // namespace tenon::ops::op_qlinear_leaky_relu
