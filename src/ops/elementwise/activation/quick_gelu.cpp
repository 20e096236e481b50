// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/elementwise.h"

namespace tenon::ops::op_quick_gelu {

OP(quick_gelu) {
    .name = "QuickGelu",
    .domain = "com.microsoft",
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"alpha: float = 1.702"}},
    .infer = infer_float_unary,
    .definition = [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      return {build("Swish", {in[0]}, {{"alpha", view.attributes->number("alpha", 1.702f)}})};
    },
    .samples = {{"f32[2,3]", "f16[4]; alpha=1.0"}},
};

}  // namespace tenon::ops::op_quick_gelu
