// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/reference/arguments.h"
#include "ops/reference/elements.h"

namespace tenon::ops::op_compress {

OP(compress) {
    .name = "Compress",
    .since_version = 28,
    .inputs = {{"input", "condition"}},
    .attributes = {{"axis: int"}},
    .keeps_elements = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 1, is_bool, "bool"));
      Type type(dtype_of(view, 0));
      if (!view.attributes->has("axis")) {
        type.shape = DimList{view.symbols->fresh()};
      } else if (ranks_known(view, {0})) {
        type.shape = view.type(0).shape;
        (*type.shape)[static_cast<size_t>(TRY(normalise_axis(view, view.attributes->integer("axis", 0), view.rank(0))))] =
            view.symbols->fresh();
      }
      set_output(view, 0, std::move(type));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      const bool flat = !call.view.attributes->has("axis");
      const Tensor x = flat ? call.in[0]->reshaped({call.in[0]->count()}) : *call.in[0];
      const size_t axis =
          flat ? 0 : static_cast<size_t>(TRY(normalise_axis(call.view, call.view.attributes->integer("axis", 0), x.rank())));
      std::vector<int64_t> kept;
      const Ints condition = ints_of(call, 1);
      for (size_t i = 0; i < condition.size(); ++i) {
        if (condition[i] != 0 && static_cast<int64_t>(i) < x.shape()[axis]) kept.push_back(static_cast<int64_t>(i));
      }
      Sizes shape = x.shape();
      shape[axis] = static_cast<int64_t>(kept.size());
      const Sizes strides = strides_of(x.shape());
      return gather_elements(call, x, shape, [&](const Sizes& at) {
        Sizes from = at;
        from[axis] = kept[static_cast<size_t>(at[axis])];
        return offset_of(from, strides);
      });
    },
    .first_opset = 9,
    .samples = {{"f32[3,2], bool[3] = [0, 1, 1]; axis=0", "f32[3,2], bool[2] = [0, 1]; axis=-1", "f16[3,2], bool[5] = [0, 1, 0, 0, 1]",
                 "i64[0], bool[1]"}},
};

}  // namespace tenon::ops::op_compress
