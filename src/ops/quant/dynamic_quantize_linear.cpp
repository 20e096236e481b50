// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/elementwise.h"
#include "ops/quant/granularity.h"

namespace tenon::ops::op_dynamic_quantize_linear {

/// Scale and zero point are computed from the range of the data, extended to contain 0.
OP(dynamic_quantize_linear) {
    .name = "DynamicQuantizeLinear",
    .since_version = 11,
    .inputs = {{"x"}},
    .outputs = {{"y", "y_scale", "y_zero_point"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, is_arithmetic_float, "f32"));
      TRY(infer_same_type(view));
      view.outputs[0].dtype = DType::u8;
      set_output(view, 1, Type(DType::f32, {}));
      set_output(view, 2, Type(DType::u8, {}));
      return {};
    },
    .definition =
        [](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) {
          const ir::ValueId zero = build.scalar(DType::f32, 0), top = build.scalar(DType::f32, 255);
          const ir::ValueId low = build("Min", {build("ReduceMin", {in[0]}, {{"keepdims", int64_t{0}}}), zero});
          const ir::ValueId high = build("Max", {build("ReduceMax", {in[0]}, {{"keepdims", int64_t{0}}}), zero});
          const ir::ValueId scale = build("Div", {build("Sub", {high, low}), top});
          const ir::ValueId place = build("Clip", {build("Sub", {zero, build("Div", {low, scale})}), zero, top});
          const ir::ValueId point = build("Cast", {build("Round", {place})}, {{"to", static_cast<int64_t>(DType::u8)}});
          return std::vector{build("QuantizeLinear", {in[0], scale, point}), scale, point};
        },
    .first_opset = 11,
    .samples = {{"f32[6] = [0, 2, -3, -2.5, 1.34, 0.5]; outputs=3", "f32[3,4] in 1..4; outputs=3"}},
};

}  // namespace tenon::ops::op_dynamic_quantize_linear
