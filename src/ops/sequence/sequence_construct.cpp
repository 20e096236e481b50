// SPDX-License-Identifier: Apache-2.0
#include "ops/core/refuse.h"
#include "ops/infer/container_types.h"

namespace tenon::ops::op_sequence_construct {

OP(sequence_construct) {
    .name = "SequenceConstruct",
    .since_version = 11,
    .inputs = {{"inputs*"}},
    .outputs = {{"output_sequence"}},
    .infer = [](NodeView& view) -> Result<void> {
      if (view.inputs.empty()) return refuse(view, Code::bad_graph, "needs at least one tensor");
      Type type = view.type(0);
      for (size_t k = 0; k < view.inputs.size(); ++k) {
        if (!view.has(k)) return refuse(view, Code::bad_graph, "operand " + std::to_string(k) + " is missing");
        type = TRY(common_element_type(view, type, view.type(k)));
      }
      set_output(view, 0, with_kind(std::move(type), ValueKind::sequence));
      return {};
    },
    .reference = [](Call& call) -> Result<void> {
      std::vector<Tensor> elements;
      for (const Tensor* t : call.in) elements.push_back(*t);
      call.out[0] = Tensor::of_elements(DType::sequence, std::move(elements));
      return {};
    },
    .first_opset = 11,
};

}  // namespace tenon::ops::op_sequence_construct
