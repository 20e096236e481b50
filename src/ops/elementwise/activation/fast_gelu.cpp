// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/activation/biased.h"

namespace tenon::ops::op_fast_gelu {

OP(fast_gelu) {
    .name = "FastGelu",
    .domain = "com.microsoft",
    .inputs = {{"X", "bias?"}},
    .outputs = {{"Y"}},
    .infer = infer_biased,
    .definition = [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      const ir::ValueId sum = view.has(1) ? build("Add", {in[0], in[1]}) : in[0];
      return {build("Gelu", {sum}, {{"approximate", std::string("tanh")}})};
    },
    .samples = {{"f32[2,3]", "f32[2,3,4], f32[4]", "f16[4]"}},
};

}  // namespace tenon::ops::op_fast_gelu
