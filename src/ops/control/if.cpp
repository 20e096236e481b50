// SPDX-License-Identifier: Apache-2.0
#include "ops/control/bodies.h"
#include "ops/infer/container_types.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_if {

namespace {

/// The number of the body of that name; bodies without names are then_branch, else_branch.
size_t branch(const NodeView& view, bool yes) {
  for (size_t b = 0; b < view.body_names.size(); ++b) {
    if (view.body_names[b] == (yes ? "then_branch" : "else_branch")) return b;
  }
  return yes ? 0 : 1;
}

Result<void> infer_if(NodeView& view) {
  if (view.bodies.size() != 2) return refuse(view, Code::bad_attribute, "needs then_branch and else_branch");
  TRY(require_formal_inputs(view, 0));
  TRY(require_tensor(view, 0));
  TRY(require_dtype(view, 0, is_bool, "bool"));
  const std::vector<Type> yes = body_outputs(view, branch(view, true)), no = body_outputs(view, branch(view, false));
  if (yes.size() != no.size() || yes.size() < view.outputs.size())
    return refuse(view, Code::bad_graph, "the bodies differ in their number of results");
  for (size_t k = 0; k < view.outputs.size(); ++k) set_output(view, k, TRY(common_type(view, yes[k], no[k])));
  return {};
}

Result<void> reference_of_if(Call& call) {
  if (call.in[0]->count() != 1 || call.in[0]->dtype() != DType::boolean)
    return refuse(call.view, Code::bad_input, "the condition is not one element");
  const size_t body = branch(call.view, call.in[0]->integer(0) != 0);
  std::vector<Tensor> results = TRY(call.run_body(body, captures_of(call, body)));
  for (size_t k = 0; k < call.out.size() && k < results.size(); ++k) call.out[k] = std::move(results[k]);
  return {};
}

}  // namespace

OP(if) {
    .name = "If",
    .since_version = 25,
    .inputs = {{"cond"}},
    .outputs = {{"outputs*"}},
    .attributes = {{"then_branch: graph!", "else_branch: graph!"}},
    .accepts_containers = true,
    .reads_body_types = true,
    .control = Control::branch,
    .infer = infer_if,
    .result_count = [](const NodeView& view) { return results_of_body(view); },
    .reference = reference_of_if,
};

}  // namespace tenon::ops::op_if
