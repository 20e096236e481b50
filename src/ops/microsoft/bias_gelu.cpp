// SPDX-License-Identifier: Apache-2.0
#include "ops/fused_helpers.h"

namespace tenon::ops {

OP(bias_gelu) {
    .name = "BiasGelu",
    .domain = "com.microsoft",
    .inputs = {"A", "B"},
    .outputs = {"C"},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_rank(view, 1, 1));
      const bool is_row = ranks_known(view, {0, 1}) && view.rank(0) > 0 && view.type(0).dim(-1).equals(view.type(1).dim(0)).value_or(false);
      if (is_row && dtype_of(view, 0) == dtype_of(view, 1) && is_real_arithmetic(dtype_of(view, 0))) {
        set_output(view, 0, view.type(0));
        return {};
      }
      return infer_by_definition(view);
    },
    .definition = [](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      return {build("Gelu", {build("Add", {in[0], in[1]})})};
    },
    .samples = {"f32[2,3,4], f32[4]", "f16[5,8], f16[8]", "f64[0,3], f64[3]"},
};

}  // namespace tenon::ops
