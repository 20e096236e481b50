// SPDX-License-Identifier: Apache-2.0
#include "ops/control/bodies.h"
#include "ops/core/refuse.h"
#include "ops/infer/container_types.h"
#include "ops/infer/shape_data.h"

namespace tenon::ops::op_sequence_map {

namespace {

std::vector<Type> sequence_map_body_inputs(const NodeView& view, size_t body) {
  const std::vector<Type> before = body_input_types(view, body);
  std::vector<Type> out;
  for (size_t k = 0; k < view.explicit_inputs; ++k)
    out.push_back(view.type(k).is_sequence() ? element_type(view, view.type(k), k < before.size() ? before[k] : Type()) : view.type(k));
  return out;
}

Result<void> infer_sequence_map(NodeView& view) {
  if (view.bodies.size() != 1) return refuse(view, Code::bad_attribute, "needs a body");
  TRY(require_sequence(view, 0));
  for (size_t k = 0; k < view.explicit_inputs; ++k)
    if (view.type(k).is_optional())
      return refuse(view, Code::dtype_mismatch, "operand " + std::to_string(k) + " is an optional").found(view.type(k).text());
  TRY(require_formal_inputs(view, view.explicit_inputs));
  const std::vector<Type> results = body_outputs(view, 0);
  if (results.size() < view.outputs.size()) return refuse(view, Code::bad_graph, "the body has too few results");
  for (size_t k = 0; k < view.outputs.size(); ++k) {
    TRY(require_tensor(view, results[k], "a result of the body"));
    set_output(view, k, with_kind(results[k], ValueKind::sequence));
  }
  return {};
}

Result<void> reference_of_sequence_map(Call& call) {
  const size_t formals = call.view.explicit_inputs;
  const int64_t length = call.in[0]->count();
  for (size_t k = 1; k < formals; ++k)
    if (call.in[k]->holds_tensors() && call.in[k]->count() != length)
      return refuse(call.view, Code::shape_mismatch, "the sequences differ in length")
          .expected(std::to_string(length))
          .found(std::to_string(call.in[k]->count()));
  const std::vector<Tensor> captures = captures_of(call, 0);
  std::vector<std::vector<Tensor>> elements(call.out.size());
  for (int64_t i = 0; i < length; ++i) {
    std::vector<Tensor> in;
    for (size_t k = 0; k < formals; ++k)
      in.push_back(call.in[k]->holds_tensors() ? call.in[k]->elements()[static_cast<size_t>(i)] : *call.in[k]);
    in.insert(in.end(), captures.begin(), captures.end());
    std::vector<Tensor> results = TRY(call.run_body(0, std::move(in), i));
    for (size_t k = 0; k < elements.size() && k < results.size(); ++k) elements[k].push_back(std::move(results[k]));
  }
  for (size_t k = 0; k < call.out.size(); ++k) call.out[k] = Tensor::of_elements(DType::sequence, std::move(elements[k]));
  return {};
}

}  // namespace

OP(sequence_map) {
    .name = "SequenceMap",
    .since_version = 17,
    .inputs = {{"input_sequence", "additional_inputs*"}},
    .outputs = {{"out_sequence*"}},
    .attributes = {{"body: graph!"}},
    .accepts_containers = true,
    .reads_body_types = true,
    .infer = infer_sequence_map,
    .result_count = [](const NodeView& view) { return results_of_body(view); },
    .body_input_types = sequence_map_body_inputs,
    .reference = reference_of_sequence_map,
    .first_opset = 17,
};

}  // namespace tenon::ops::op_sequence_map
