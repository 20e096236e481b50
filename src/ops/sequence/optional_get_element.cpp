// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/infer/container_types.h"

namespace tenon::ops::op_optional_get_element {

OP(optional_get_element) {
    .name = "OptionalGetElement",
    .since_version = 18,
    .inputs = {{"input"}},
    .accepts_containers = true,
    .infer = [](NodeView& view) -> Result<void> {
      const Type& type = view.type(0);
      if (type.kind == ValueKind::optional) set_output(view, 0, element_type(view, type));
      else set_output(view, 0, type.kind == ValueKind::optional_sequence ? with_kind(type, ValueKind::sequence) : type);
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      const Tensor& x = *call.in[0];
      if (x.dtype() == DType::optional && x.count() == 0)
        return refuse(call.view, Code::bad_input, "the optional has no element")
            .expected("an optional with an element")
            .found("an empty one")
            .advice("check OptionalHasElement first, in an If");
      call.out[0] = x.dtype() == DType::optional ? x.elements()[0] : x;
      return {};
    },
    .lowest_opset = [](const NodeView& view) { return view.type(0).is_optional() ? 15 : 18; },
    .first_opset = 15,
    .samples = {{"f32[2,3]", "i64[0]"}},
};

}  // namespace tenon::ops::op_optional_get_element
