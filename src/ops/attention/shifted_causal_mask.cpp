// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/mask.h"
#include "ops/infer/types.h"

namespace tenon::ops::op_shifted_causal_mask {

/// mask[0, 0, i, j]: j > past + i - shift, the keys of a sliding window.
OP(shifted_causal_mask) {
    .name = "ShiftedCausalMask",
    .domain = "tenon",
    .inputs = {{"past", "total", "shift"}},
    .outputs = {{"mask"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_number(view, 2));
      set_output(view, 0, TRY(mask_type(view)));
      return {};
    },
    .definition = [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      const ir::ValueId past = scalar_of(build, view, in, 0), total = scalar_of(build, view, in, 1);
      const ir::ValueId oldest = build("Sub", {positions(build, past, total, 2), in[2]});
      return {build("Greater", {positions(build, {}, total, 3), oldest})};
    },
    .samples = {{"i64[] = 2, i64[] = 5, i64[] = 2", "i64[] = 0, i64[] = 3, i64[1] = [9]", "i64[1] = [1], i64[1] = [4], i64[] = 2",
                 "i64[] in 0..2, i64[] in 3..6, i64[] in 1..3"}},
};

}  // namespace tenon::ops::op_shifted_causal_mask
