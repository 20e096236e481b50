// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/container_types.h"
#include "ops/sequence/position.h"

namespace tenon::ops::op_sequence_at {

OP(sequence_at) {
    .name = "SequenceAt",
    .since_version = 11,
    .inputs = {{"input_sequence", "position"}},
    .outputs = {{"tensor"}},
    .accepts_containers = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_sequence(view, 0));
      TRY(require_position(view, 1));
      set_output(view, 0, element_type(view, view.type(0)));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      const std::vector<Tensor>& elements = call.in[0]->elements();
      const auto length = static_cast<int64_t>(elements.size());
      call.out[0] = elements[static_cast<size_t>(TRY(position_of(call, 1, length, length - 1)))];
      return {};
    },
    .first_opset = 11,
};

}  // namespace tenon::ops::op_sequence_at
