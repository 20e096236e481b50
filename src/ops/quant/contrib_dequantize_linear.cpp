// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/types.h"
#include "ops/quant/definition.h"

namespace tenon::ops::op_contrib_dequantize_linear {

/// ONNX Runtime's variant of ONNX's op, which took 16-bit integers first.
OP(contrib_dequantize_linear) {
    .name = "DequantizeLinear",
    .domain = "com.microsoft",
    .inputs = {{"x", "x_scale", "x_zero_point?"}},
    .outputs = {{"y"}},
    .attributes = {{"axis: int"}},
    .placed_with = PlacedWith::consumer,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_by_definition(view));
      if (view.outputs[0].dtype != dtype_of(view, 1)) set_output(view, 0, Type(dtype_of(view, 1)));
      return {};
    },
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return build.many(*build.graph().ops().find("", "DequantizeLinear"), {in.begin(), in.end()}, 1, *view.attributes);
        },
    .samples = {{"u8[2,3] in 0..255, f32[] = 0.05, u8[] = 128", "i8[2,3] in -128..127, f32[3] in 0.01..0.1, i8[3] in -9..9; axis=1",
                 "u16[2,3] in 0..65535, f32[] = 0.001, u16[] = 30000", "i32[4] in -1000..1000, f32[] = 0.001"}},
};

}  // namespace tenon::ops::op_contrib_dequantize_linear
