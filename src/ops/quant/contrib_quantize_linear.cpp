// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/types.h"
#include "ops/quant/definition.h"

namespace tenon::ops::op_contrib_quantize_linear {

/// ONNX Runtime's variant of ONNX's op, which took 16-bit integers first.
OP(contrib_quantize_linear) {
    .name = "QuantizeLinear",
    .domain = "com.microsoft",
    .inputs = {{"x", "y_scale", "y_zero_point?"}},
    .outputs = {{"y"}},
    .attributes = {{"axis: int"}},
    .placed_with = PlacedWith::producer,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_by_definition(view));
      const DType dtype = view.has(2) ? dtype_of(view, 2) : DType::u8;
      if (view.outputs[0].dtype != dtype) set_output(view, 0, Type(dtype));
      return {};
    },
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return build.many(*build.graph().ops().find("", "QuantizeLinear"), {in.begin(), in.end()}, 1, *view.attributes);
        },
    .samples = {{"f32[2,3], f32[] = 0.05, u8[] = 128", "f32[2,3], f32[3] in 0.01..0.1, i8[3] in -9..9; axis=1",
                 "f32[2,3], f32[] = 0.001, u16[] = 30000", "f32[4], f32[] = 0.001, i16[] = -7"}},
};

}  // namespace tenon::ops::op_contrib_quantize_linear
