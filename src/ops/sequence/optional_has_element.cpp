// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/types.h"

namespace tenon::ops::op_optional_has_element {

OP(optional_has_element) {
    .name = "OptionalHasElement",
    .since_version = 18,
    .inputs = {{"input?"}},
    .accepts_containers = true,
    .infer = [](NodeView& view) -> Result<void> {
      set_output(view, 0, Type(DType::boolean, {}));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      const bool has = call.has(0) && (call.in[0]->dtype() != DType::optional || call.in[0]->count() > 0);
      call.out[0] = Tensor::scalar(DType::boolean, has ? 1 : 0);
      return {};
    },
    .lowest_opset = [](const NodeView& view) { return view.has(0) && view.type(0).is_optional() ? 15 : 18; },
    .first_opset = 15,
    .samples = {{"f32[2]", "i64[0]"}},
};

}  // namespace tenon::ops::op_optional_has_element
