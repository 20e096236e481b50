// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/mask.h"
#include "ops/infer/types.h"

namespace tenon::ops::op_causal_mask {

/// mask[0, 0, i, j] = j <= past + i: query past + i attends to key j.
OP(causal_mask) {
    .name = "CausalMask",
    .domain = "tenon",
    .inputs = {{"past", "total"}},
    .outputs = {{"mask"}},
    .infer = [](NodeView& view) -> Result<void> {
      set_output(view, 0, TRY(mask_type(view)));
      return {};
    },
    .definition = [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      const ir::ValueId past = scalar_of(build, view, in, 0), total = scalar_of(build, view, in, 1);
      return {build("LessOrEqual", {positions(build, {}, total, 3), positions(build, past, total, 2)})};
    },
    .samples = {{"i64[] = 2, i64[] = 5", "i64[] = 0, i64[] = 3", "i64[] = 4, i64[] = 4", "i64[1] = [1], i64[1] = [3]",
                 "i64[] in 0..2, i64[] in 3..6"}},
};

}  // namespace tenon::ops::op_causal_mask
