// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"

namespace tenon::ops::op_contrib_pad {

/// The op of ONNX without operand `axes`; `pads` may be a row of a matrix, i64[1, 2 * rank].
OP(contrib_pad) {
    .name = "Pad",
    .domain = "com.microsoft",
    .inputs = {{"data", "pads", "value?"}},
    .attributes = {{"mode: string = constant"}},
    .infer = infer_by_definition,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          std::vector<ir::ValueId> operands{in[0], build("Reshape", {in[1], build.ints({-1})})};
          if (view.has(2)) operands.push_back(build("Reshape", {in[2], build.ints({})}));
          return std::vector{build("Pad", std::move(operands), {{"mode", view.attributes->text("mode", "constant")}})};
        },
    .samples = {{"f32[2,3], i64[4] = [0, 1, 1, 2]", "f32[2,3], i64[1,4] = [0, 1, 1, 2], f32[1] = [1.5]",
                 "f32[4], i64[2] = [3, 2]; mode=reflect", "f16[4], i64[2] = [2, 1]; mode=edge"}},
};

}  // namespace tenon::ops::op_contrib_pad
