// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/definition.h"

namespace tenon::ops::op_qlinear_sigmoid {

OP(qlinear_sigmoid) {
    .name = "QLinearSigmoid",
    .domain = "com.microsoft",
    .inputs = {{"X", "X_scale", "X_zero_point?", "Y_scale", "Y_zero_point?"}},
    .outputs = {{"Y"}},
    .infer = infer_quantized<0>,
    .definition = define_quantized_map<[](ir::Builder& build, const NodeView&, ir::ValueId x) { return build("Sigmoid", {x}); }>,
    .samples = {{"u8[2,3] in 0..255, f32[] = 0.05, u8[] = 128, f32[] = 0.004, u8[] = 0",
                 "i8[7] in -128..127, f32[1] = 0.04, i8[1] = 3, f32[1] = 0.008, i8[1] = -5"}},
};

}  // namespace tenon::ops::op_qlinear_sigmoid
