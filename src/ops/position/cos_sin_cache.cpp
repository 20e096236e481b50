// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/mask.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops::op_cos_sin_cache {

/// cos and sin of position * weights for the positions first .. end - 1: [batch or 1, end - first, frequencies], as type `to` where that is
/// given.
OP(cos_sin_cache) {
    .name = "CosSinCache",
    .domain = "tenon",
    .inputs = {{"first", "end", "weights"}},
    .outputs = {{"cos", "sin"}},
    .attributes = {{"to: int"}},
    .infer = [](NodeView& view) -> Result<void> {
      for (size_t k : {0, 1}) TRY(require_number(view, k));
      TRY(require_dtype(view, 2, is_arithmetic_float, "a float type"));
      TRY(require_rank(view, 2, 3));
      Type table(TRY(table_dtype(view, 2)));
      if (ranks_known(view, {2})) {
        TRY(require_equal(view, view.type(2).dim(1), 1, "axis 1 of the weights"));
        const auto first = known_elements(view, 0), end = known_elements(view, 1);
        const bool known = first && end && first->size() == 1 && end->size() == 1;
        const Dim count = known ? max((*end)[0] - (*first)[0], 0) : view.symbols->fresh();
        table.shape = DimList{view.type(2).dim(0), count, view.type(2).dim(2)};
      }
      for (size_t k : {0, 1}) set_output(view, k, table);
      return {};
    },
    .definition = [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      const ir::ValueId range = build("Range", {scalar_of(build, view, in, 0), scalar_of(build, view, in, 1), build.scalar(DType::i64, 1)});
      const ir::ValueId column = build("Unsqueeze", {range, build.ints({0, 2})});
      const ir::ValueId position = build("Cast", {column}, {{"to", static_cast<int64_t>(view.type(2).dtype)}});
      const ir::ValueId angle = build("Mul", {in[2], position});
      const auto table = table_dtype(view, 2);
      return table ? tables_of(build, angle, view.type(2).dtype, *table) : std::vector<ir::ValueId>{};
    },
    .samples = {{"i64[] = 2, i64[] = 5, f32[1,1,4]; outputs=2", "i64[] = 0, i64[] = 0, f32[1,1,2]; outputs=2",
                 "i64[] in 0..2, i64[] in 3..6, f64[2,1,3]; outputs=2", "i64[1] = [2], i64[] = 5, f32[1,1,4]; to=10, outputs=2"}},
};

}  // namespace tenon::ops::op_cos_sin_cache
