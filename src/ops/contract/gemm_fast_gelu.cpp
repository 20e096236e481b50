// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_gemm_fast_gelu {

OP(gemm_fast_gelu) {
    .name = "GemmFastGelu",
    .domain = "com.microsoft",
    .inputs = {{"X", "W", "bias?"}},
    .outputs = {{"Y"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
      return infer_by_definition(view);
    },
    .definition = [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      const ir::ValueId product = build("MatMul", {in[0], in[1]}), sum = view.has(2) ? build("Add", {product, in[2]}) : product;
      return {build("Gelu", {sum}, {{"approximate", std::string("tanh")}})};
    },
    .samples = {{"f32[2,3,4], f32[4,5], f32[5]", "f32[3,4], f32[4,2]"}},
};

}  // namespace tenon::ops::op_gemm_fast_gelu
