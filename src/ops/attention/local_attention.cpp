// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_local_attention {

/// softmax(scale * q k^T where mask, else low, which is -inf where nothing is said) v on four axes, with weight 0 for what is no number;
/// everything broadcasts.
OP(local_attention) {
    .name = "LocalAttention",
    .domain = "tenon",
    .inputs = {{"query", "keys", "values", "mask"}},
    .outputs = {{"Y"}},
    .attributes = {{"low: float", "scale: float = 1.0"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, is_real_arithmetic, "a float type"));
      for (size_t k : {1, 2}) TRY(require_same_dtype(view, 0, k));
      TRY(require_dtype(view, 3, [](DType d) { return d == DType::boolean; }, "bool"));
      for (size_t k : {0, 1, 2}) TRY(require_rank(view, k, 4));
      return infer_by_definition(view);
    },
    .definition = [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      const DType dtype = view.type(0).dtype;
      const ir::ValueId scale = build.scalar(dtype, std::sqrt(view.attributes->number("scale", 1)));
      const ir::ValueId turned = build("Transpose", {build("Mul", {in[1], scale})}, {{"perm", ir::Ints{0, 1, 3, 2}}});
      const ir::ValueId scores = build("MatMul", {build("Mul", {in[0], scale}), turned});
      const ir::ValueId weights =
          build("Softmax", {build("Where", {in[3], scores, build.scalar(dtype, view.attributes->number("low", -INFINITY))})},
                {{"axis", int64_t{-1}}});
      const ir::ValueId clean = build("Where", {build("IsNaN", {weights}), build.scalar(dtype, 0), weights});
      return {build("MatMul", {clean, in[2]})};
    },
    .samples = {{"f32[2,3,4,8], f32[2,3,5,8], f32[2,3,5,6], bool[2,1,4,5]; scale=0.25",
                 "f32[1,2,3,4], f32[2,1,3,4], f32[2,2,3,4], bool[3]; low=-1e30",
                 "f16[1,1,2,4], f16[1,1,2,4], f16[1,1,2,4], bool[1,1,2,2]"}},
};

}  // namespace tenon::ops::op_local_attention
