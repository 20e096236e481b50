// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/definition.h"

namespace tenon::ops::op_qlinear_mul {

OP(qlinear_mul) {
    .name = "QLinearMul",
    .domain = "com.microsoft",
    .inputs = {{"A", "A_scale", "A_zero_point?", "B", "B_scale", "B_zero_point?", "C_scale", "C_zero_point?"}},
    .outputs = {{"C"}},
    .infer = infer_quantized<0>,
    .definition = define_quantized_pair<[](ir::Builder& build, ir::ValueId a, ir::ValueId b) { return build("Mul", {a, b}); }>,
    .samples = {{"u8[2,3], f32[] = 0.1, u8[] = 128, u8[2,3], f32[] = 0.2, u8[] = 100, f32[] = 0.25, u8[] = 120",
                 "i8[2,3] in -128..127, f32[] = 0.1, i8[] = 2, i8[3] in -128..127, f32[] = 0.02, i8[] = -3, f32[] = 0.1, i8[] = 1",
                 "u8[4,1] in 0..255, f32[] = 0.05, u8[] = 3, u8[1,5] in 0..255, f32[] = 0.03, u8[] = 7, f32[] = 0.08, u8[] = 9"}},
};

}  // namespace tenon::ops::op_qlinear_mul
