// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/mask.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops::op_causal_mask_mul_add {

/// places[b, 0, 0, j] = j + b * stride: the position of element j of row b in a flat mask.
OP(causal_mask_mul_add) {
    .name = "CausalMaskMulAdd",
    .domain = "tenon",
    .inputs = {{"columns", "rows", "stride"}},
    .outputs = {{"places"}},
    .infer = [](NodeView& view) -> Result<void> {
      for (size_t k : {0, 1}) TRY(require_number(view, k));
      TRY(require_number(view, 2));
      const Dim columns = length_of(view, known_elements(view, 0)), rows = length_of(view, known_elements(view, 1));
      set_output(view, 0, Type(DType::i64, {rows, 1, 1, columns}));
      return {};
    },
    .definition = [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      const ir::ValueId columns = scalar_of(build, view, in, 0), rows = scalar_of(build, view, in, 1);
      return {build("Add", {positions(build, {}, columns, 3), build("Mul", {positions(build, {}, rows, 0), in[2]})})};
    },
    .samples = {{"i64[] = 3, i64[] = 2, i64[] = 3", "i64[] = 0, i64[] = 2, i64[1] = [1]", "i64[1] = [3], i64[1] = [2], i64[] = 3",
                 "i64[] in 1..3, i64[] in 1..4, i64[] in 1..3"}},
};

}  // namespace tenon::ops::op_causal_mask_mul_add
