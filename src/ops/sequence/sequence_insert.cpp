// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/container_types.h"
#include "ops/sequence/position.h"

namespace tenon::ops::op_sequence_insert {

OP(sequence_insert) {
    .name = "SequenceInsert",
    .since_version = 11,
    .inputs = {{"input_sequence", "tensor", "position?"}},
    .outputs = {{"output_sequence"}},
    .accepts_containers = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_sequence(view, 0));
      TRY(require_tensor(view, 1));
      TRY(require_position(view, 2));
      set_output(view, 0, with_kind(TRY(common_element_type(view, view.type(0), view.type(1))), ValueKind::sequence));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      std::vector<Tensor> elements = call.in[0]->elements();
      const auto length = static_cast<int64_t>(elements.size());
      const int64_t at = call.has(2) ? TRY(position_of(call, 2, length, length)) : length;
      elements.insert(elements.begin() + at, *call.in[1]);
      call.out[0] = Tensor::of_elements(DType::sequence, std::move(elements));
      return {};
    },
    .first_opset = 11,
};

}  // namespace tenon::ops::op_sequence_insert
