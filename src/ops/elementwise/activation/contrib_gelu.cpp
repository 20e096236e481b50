// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/elementwise.h"

namespace tenon::ops::op_contrib_gelu {

OP(contrib_gelu) {
    .name = "Gelu",
    .domain = "com.microsoft",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .infer = infer_float_unary,
    .definition = [](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      return {build("Gelu", {in[0]})};
    },
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]"}},
};

}  // namespace tenon::ops::op_contrib_gelu
