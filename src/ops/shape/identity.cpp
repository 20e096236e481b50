// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"

namespace tenon::ops::op_identity {

OP(identity) {
    .name = "Identity",
    .since_version = 25,
    .inputs = {{"input"}},
    .accepts_containers = true,
    .same_bytes = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_same_type(view));
      pass_data(view);
      return {};
    },
    .loop_form = [](const NodeView& view) -> Result<LoopForm> {
      TRY(require_known_ranks(view));
      return index_form(view, 0, axis_indices(view.rank(0)));
    },
    .fold = [](const NodeView&, std::span<const ir::ConstantRef> in) -> Folded { return std::vector{in[0]}; },
    .reference = [](Call& call) -> Result<void> {
      call.out[0] = *call.in[0];
      return {};
    },
    .samples = {{"f32[2,3]", "i64[0]", "bool[]", "u8[4]", "f16[2]"}},
};

}  // namespace tenon::ops::op_identity
