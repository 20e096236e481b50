// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/cast/conversion.h"
#include "ops/infer/types.h"

namespace tenon::ops::op_cast_like {

OP(cast_like) {
    .name = "CastLike",
    .since_version = 25,
    .inputs = {{"input", "target_type"}},
    .attributes = {{"saturate: int = 1 since 19", "round_mode: string = up since 24"}},
    .infer = [](NodeView& view) { return infer_cast(view, dtype_of(view, 1)); },
    .loop_form = form_of_cast,
    .reference = [](Call& call) { return reference_of_cast(call, call.view.attributes->integer("saturate", 1) != 0); },
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return std::vector{build(
              "Cast", {in[0]}, {{"to", static_cast<int64_t>(view.type(1).dtype)}, {"saturate", view.attributes->integer("saturate", 1)}})};
        },
    .first_opset = 15,
    .samples = {{"f32[2,3], i64[1]", "i64[4], f16[0]", "f64[0], f32[]", "bool[3], f32[2]"}},
};

}  // namespace tenon::ops::op_cast_like
