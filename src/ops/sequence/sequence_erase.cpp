// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/infer/container_types.h"
#include "ops/sequence/position.h"

namespace tenon::ops::op_sequence_erase {

OP(sequence_erase) {
    .name = "SequenceErase",
    .since_version = 11,
    .inputs = {{"input_sequence", "position?"}},
    .outputs = {{"output_sequence"}},
    .accepts_containers = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_sequence(view, 0));
      TRY(require_position(view, 1));
      set_output(view, 0, with_kind(view.type(0), ValueKind::sequence));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      std::vector<Tensor> elements = call.in[0]->elements();
      const auto length = static_cast<int64_t>(elements.size());
      if (length == 0) return refuse(call.view, Code::index_out_of_range, "the sequence is empty").expected("an element to leave out");
      const int64_t at = call.has(1) ? TRY(position_of(call, 1, length, length - 1)) : length - 1;
      elements.erase(elements.begin() + at);
      call.out[0] = Tensor::of_elements(DType::sequence, std::move(elements));
      return {};
    },
    .first_opset = 11,
};

}  // namespace tenon::ops::op_sequence_erase
