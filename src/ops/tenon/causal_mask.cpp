// SPDX-License-Identifier: Apache-2.0
#include "ops/mask_helpers.h"

namespace tenon::ops {

/// mask[0, 0, i, j]: may query past + i look at key j? j <= past + i.
OP(causal_mask) {
    .name = "CausalMask",
    .domain = "tenon",
    .inputs = {"past", "total"},
    .outputs = {"mask"},
    .infer = [](NodeView& view) -> Result<void> {
      for (size_t k : {0, 1}) TRY(require_length(view, k));
      const auto past = elements(view, 0), total = elements(view, 1);
      const Dim keys = length_of(view, total);
      const bool known = past && total && past->size() == 1 && total->size() == 1;
      const Dim queries = known ? max((*total)[0] - (*past)[0], 0) : view.symbols->fresh();
      set_output(view, 0, Type(DType::boolean, {1, 1, queries, keys}));
      return {};
    },
    .definition = [](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      return {build("LessOrEqual", {positions(build, {}, in[1], 3), positions(build, in[0], in[1], 2)})};
    },
    .samples = {"i64[] = 2, i64[] = 5", "i64[] = 0, i64[] = 3", "i64[] = 4, i64[] = 4", "i64[] in 0..2, i64[] in 3..6"},
};

}  // namespace tenon::ops
