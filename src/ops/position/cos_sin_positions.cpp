// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/mask.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_cos_sin_positions {

/// cos and sin of position * weights: [batch, sequence, frequencies] of positions [batch, sequence], or [batch] where the sequence is 1,
/// and weights [batch or 1, 1, frequencies]; as type `to` where that is given.
OP(cos_sin_positions) {
    .name = "CosSinPositions",
    .domain = "tenon",
    .inputs = {{"positions", "weights"}},
    .outputs = {{"cos", "sin"}},
    .attributes = {{"to: int"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, is_integer, "an integer type"));
      TRY(require_dtype(view, 1, is_arithmetic_float, "a float type"));
      TRY(require_rank(view, 0, 1, 2));
      TRY(require_rank(view, 1, 3));
      Type table(TRY(table_dtype(view, 1)));
      if (ranks_known(view, {0, 1})) {
        TRY(require_equal(view, view.type(1).dim(1), 1, "axis 1 of the weights"));
        const Dim batch = view.type(0).dim(0);
        TRY(require_broadcastable(view, view.type(1).dim(0), batch, "batches of positions and weights"));
        table.shape = DimList{batch, view.rank(0) == 1 ? Dim(1) : view.type(0).dim(1), view.type(1).dim(2)};
      }
      for (size_t k : {0, 1}) set_output(view, k, table);
      return {};
    },
    .definition = [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      if (!ranks_known(view, {0})) return {};
      const ir::ValueId column = build("Unsqueeze", {in[0], view.rank(0) == 1 ? build.ints({1, 2}) : build.ints({2})});
      const ir::ValueId position = build("Cast", {column}, {{"to", static_cast<int64_t>(view.type(1).dtype)}});
      const ir::ValueId angle = build("Mul", {in[1], position});
      const auto table = table_dtype(view, 1);
      return table ? tables_of(build, angle, view.type(1).dtype, *table) : std::vector<ir::ValueId>{};
    },
    .samples = {{"i64[2,3], f32[1,1,4]; outputs=2", "i64[0,2], f32[1,1,3]; outputs=2", "i32[2,3] in 0..9, f64[2,1,2]; outputs=2",
                 "i64[3] in 0..9, f32[1,1,2]; to=10, outputs=2"}},
};

}  // namespace tenon::ops::op_cos_sin_positions
