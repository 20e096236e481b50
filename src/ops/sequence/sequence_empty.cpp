// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/infer/container_types.h"

namespace tenon::ops::op_sequence_empty {

OP(sequence_empty) {
    .name = "SequenceEmpty",
    .since_version = 11,
    .attributes = {{"dtype: int = 1"}},
    .infer = [](NodeView& view) -> Result<void> {
      const int64_t number = view.attributes->integer("dtype", static_cast<int64_t>(DType::f32));
      const auto dtype = dtype_from_onnx(number);
      if (!dtype) return refuse(view, Code::bad_attribute, "no such element type").found(std::to_string(number));
      set_output(view, 0, with_kind(Type(*dtype), ValueKind::sequence));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      call.out[0] = Tensor::of_elements(DType::sequence, {});
      return {};
    },
    .first_opset = 11,
};

}  // namespace tenon::ops::op_sequence_empty
