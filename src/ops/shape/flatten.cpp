// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/form/loops.h"
#include "ops/infer/types.h"
#include "ops/shape/same_bytes.h"

namespace tenon::ops::op_flatten {

OP(flatten) {
    .name = "Flatten",
    .since_version = 25,
    .inputs = {{"input"}},
    .attributes = {{"axis: int = 1"}},
    .same_bytes = true,
    .infer = [](NodeView& view) -> Result<void> {
      Type type(dtype_of(view, 0));
      if (ranks_known(view, {0})) {
        const int rank = view.rank(0);
        int64_t axis = view.attributes->integer("axis", 1);
        if (axis < -rank || axis > rank) return refuse(view, Code::axis_out_of_range, "axis is out of range").found(std::to_string(axis));
        if (axis < 0) axis += rank;
        const DimList& shape = *view.type(0).shape;
        type.shape = DimList{product(DimList(shape.begin(), shape.begin() + axis)), product(DimList(shape.begin() + axis, shape.end()))};
      } else {
        type.shape = DimList{view.symbols->fresh(), view.symbols->fresh()};
      }
      set_output(view, 0, std::move(type));
      return {};
    },
    .loop_form = [](const NodeView& view) -> Result<LoopForm> {
      TRY(require_known_ranks(view));
      return index_form(view, 0, reshape_index(*view.type(0).shape, *view.outputs[0].shape));
    },
    .fold = fold_same_bytes,
    .reference = [](Call& call) -> Result<void> {
      const Tensor& x = *call.in[0];
      int64_t axis = call.view.attributes->integer("axis", 1), rows = 1, columns = 1;
      if (axis < 0) axis += x.rank();
      for (int64_t i = 0; i < x.rank(); ++i) (i < axis ? rows : columns) *= x.shape()[static_cast<size_t>(i)];
      call.out[0] = x.reshaped({rows, columns});
      return {};
    },
    .samples = {{"f32[2,3,4]", "f32[2,3,4]; axis=0", "f16[2,3,4]; axis=3", "f32[2,3,4]; axis=-1", "f64[0,3]", "i64[]; axis=0"}},
};

}  // namespace tenon::ops::op_flatten
