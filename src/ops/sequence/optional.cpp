// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"
#include "ops/core/refuse.h"
#include "ops/infer/container_types.h"

namespace tenon::ops::op_optional {

namespace {

Result<void> infer_optional(NodeView& view) {
  Type type;
  if (view.has(0)) {
    type = view.type(0);
  } else if (view.attributes->has("type")) {
    auto parsed = ir::parse_type(view.attributes->text("type", ""), *view.symbols);
    if (!parsed) return refuse(view, Code::bad_attribute, "type cannot be read").found(view.attributes->text("type", ""));
    type = *std::move(parsed);
  } else {
    return refuse(view, Code::bad_attribute, "has neither an element nor a type").expected("an operand, or the attribute 'type'");
  }
  if (type.is_optional())
    return refuse(view, Code::dtype_mismatch, "an optional of an optional").expected("a tensor or a sequence").found(type.text());
  if (is_unknown(type)) return {};
  set_output(view, 0, with_kind(type, type.is_sequence() ? ValueKind::optional_sequence : ValueKind::optional));
  return {};
}

}  // namespace

OP(optional) {
    .name = "Optional",
    .since_version = 15,
    .inputs = {{"input?"}},
    .attributes = {{"type: type"}},
    .accepts_containers = true,
    .infer = infer_optional,
    .reference = [](Call& call) -> Result<void> {
      std::vector<Tensor> elements;
      if (call.has(0)) elements.push_back(*call.in[0]);
      call.out[0] = Tensor::of_elements(DType::optional, std::move(elements));
      return {};
    },
    .first_opset = 15,
};

}  // namespace tenon::ops::op_optional
