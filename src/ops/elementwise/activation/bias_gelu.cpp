// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/activation/biased.h"

namespace tenon::ops::op_bias_gelu {

OP(bias_gelu) {
    .name = "BiasGelu",
    .domain = "com.microsoft",
    .inputs = {{"A", "B"}},
    .outputs = {{"C"}},
    .infer = infer_biased,
    .definition = [](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      return {build("Gelu", {build("Add", {in[0], in[1]})})};
    },
    .samples = {{"f32[2,3,4], f32[4]", "f16[5,8], f16[8]", "f64[0,3], f64[3]"}},
};

}  // namespace tenon::ops::op_bias_gelu
