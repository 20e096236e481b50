// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/container_types.h"

namespace tenon::ops::op_sequence_length {

OP(sequence_length) {
    .name = "SequenceLength",
    .since_version = 11,
    .inputs = {{"input_sequence"}},
    .outputs = {{"length"}},
    .accepts_containers = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_sequence(view, 0));
      set_output(view, 0, Type(DType::i64, {}));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      const int64_t length = call.in[0]->count();
      call.out[0] = Tensor::of_i64({}, std::span(&length, 1));
      return {};
    },
    .first_opset = 11,
};

}  // namespace tenon::ops::op_sequence_length
