// SPDX-License-Identifier: Apache-2.0
#include "ops/control/bodies.h"
#include "ops/infer/container_types.h"
#include "ops/infer/require.h"
#include "ops/infer/shape_data.h"
#include "ops/reference/stack.h"

namespace tenon::ops::op_loop {

namespace {

/// Operands: trip count, condition, carried values; body: iteration, condition, carried values, captures.
size_t carried_count(const NodeView& view) { return view.explicit_inputs > 2 ? view.explicit_inputs - 2 : 0; }

std::vector<Type> loop_body_inputs(const NodeView& view, size_t body) {
  std::vector<Type> out = {Type(DType::i64, {}), Type(DType::boolean, {})};
  const std::vector<Type> current = body_input_types(view, body), next = body_outputs(view, body);
  for (size_t k = 0; k < carried_count(view); ++k) {
    out.push_back(
        carried_type(view, view.type(2 + k), 2 + k < current.size() ? current[2 + k] : Type(), 1 + k < next.size() ? next[1 + k] : Type()));
  }
  return out;
}

/// Whether the body's condition result is its condition input, or the constant true.
bool runs_to_the_end(const ir::Graph& body) {
  ir::ValueId v = body.outputs()[0];
  while (body.value(v).producer && body.node(body.value(v).producer).is("Identity")) v = body.node(body.value(v).producer).inputs[0];
  if (v == body.inputs()[1]) return true;
  const Tensor* t = body.tensor_of(v);
  return t && t->count() == 1 && t->integer(0) != 0;
}

Dim trip_count(const NodeView& view) {
  const auto most = known_elements(view, 0);
  const auto condition = known_number(view, 1);
  const bool starts = !view.has(1) || view.explicit_inputs < 2 || condition == 1.0;
  if (most && most->size() == 1 && starts && runs_to_the_end(*view.bodies[0])) return max((*most)[0], 0);
  return view.symbols->fresh();
}

/// Type of the result for a carried value. Where an optional is carried, the body may return its element; then the result is the element.
Result<Type> result_type(const NodeView& view, const Type& initial, const Type& carried, const Type& next) {
  Type out = final_type(view, initial, carried);
  if (is_unknown(next) || next.kind == carried.kind) return out;
  if (carried.kind == ValueKind::optional && next.is_tensor()) return element_type(view, out);
  if (carried.kind == ValueKind::optional_sequence && next.is_sequence()) return with_kind(out, ValueKind::sequence);
  return refuse(view, Code::dtype_mismatch, "the body returns another kind of value than it gets")
      .expected(carried.text())
      .found(next.text());
}

Result<void> infer_loop(NodeView& view) {
  if (view.bodies.size() != 1) return refuse(view, Code::bad_attribute, "needs a body");
  for (size_t k = 0; k < std::min<size_t>(view.explicit_inputs, 2); ++k) TRY(require_tensor(view, k));
  if (view.explicit_inputs > 0) TRY(require_dtype(view, 0, is_index, "i64"));
  if (view.explicit_inputs > 1) TRY(require_dtype(view, 1, is_bool, "bool"));
  const std::vector<Type> inputs = body_input_types(view, 0), results = body_outputs(view, 0);
  const size_t carried = carried_count(view);
  TRY(require_formal_inputs(view, 2 + carried));
  if (results.size() < 1 + carried) return refuse(view, Code::bad_graph, "the body has too few results");
  if (results[0].dtype != DType::none && results[0].dtype != DType::boolean)
    return refuse(view, Code::dtype_mismatch, "the body's condition has a wrong dtype").expected("bool").found(results[0].text());
  for (size_t k = 0; k < carried; ++k) set_output(view, k, TRY(result_type(view, view.type(2 + k), inputs[2 + k], results[1 + k])));
  if (results.size() == 1 + carried) return {};
  const Dim trips = trip_count(view);
  for (size_t k = 1 + carried; k < results.size(); ++k) {
    Type type = results[k];
    TRY(require_tensor(view, type, "a result that is stacked"));
    if (type.has_rank()) type.shape->insert(type.shape->begin(), trips);
    set_output(view, k - 1, std::move(type));
  }
  return {};
}

/// The only element of a trip count or a condition.
Result<int64_t> only_element(const NodeView& view, const Tensor& t, std::string_view what) {
  if (t.count() == 1 && (is_integer(t.dtype()) || t.dtype() == DType::boolean)) return t.integer(0);
  return refuse(view, Code::bad_input, std::string(what) + " is not one integer or bool").found(type_text(t.dtype(), t.shape()));
}

/// Wraps a carried value in an optional where the result is one and the last iteration returned its element.
Tensor as_carried_input(Tensor value, const Type& wanted) {
  return wanted.is_optional() && value.dtype() != DType::optional ? Tensor::of_elements(DType::optional, {std::move(value)}) : value;
}

/// The result for the last value of a carried input. After no iteration that is the initial value, whose element is the result where the
/// body would have returned one.
Result<Tensor> as_result(const Call& call, const Tensor& value, const Type& wanted) {
  if (value.dtype() != DType::optional || wanted.is_optional()) return value;
  if (value.count() > 0) return value.elements()[0];
  return refuse(call.view, Code::bad_input, "it ran no iteration, and the optional that it carries has no element")
      .expected("an iteration, or an optional with an element")
      .found("neither");
}

Result<void> reference_of_loop(Call& call) {
  const size_t carried = carried_count(call.view);
  const bool has_trips = call.view.explicit_inputs > 0 && call.has(0), has_condition = call.view.explicit_inputs > 1 && call.has(1);
  const int64_t trips = has_trips ? TRY(only_element(call.view, *call.in[0], "the trip count")) : INT64_MAX;
  bool go = !has_condition || TRY(only_element(call.view, *call.in[1], "the condition")) != 0;
  std::vector<Tensor> state;
  for (size_t k = 0; k < carried; ++k) state.push_back(*call.in[2 + k]);
  const size_t scans = call.view.bodies[0]->outputs().size() - 1 - carried;
  std::vector<std::vector<Tensor>> rows(scans);
  const std::vector<Tensor> captures = captures_of(call, 0);
  const std::vector<Type> inputs = body_input_types(call.view, 0), outputs = body_outputs(call.view, 0);
  for (int64_t i = 0; i < trips && go; ++i) {
    for (size_t k = 0; k < carried; ++k) state[k] = as_carried_input(std::move(state[k]), inputs[2 + k]);
    std::vector<Tensor> in = {Tensor::of_i64({}, std::span(&i, 1)), Tensor::scalar(DType::boolean, 1)};
    in.insert(in.end(), state.begin(), state.end());
    in.insert(in.end(), captures.begin(), captures.end());
    std::vector<Tensor> results = TRY(call.run_body(0, std::move(in), i));
    go = TRY(only_element(call.view, results[0], "the body's condition")) != 0;
    for (size_t k = 0; k < carried; ++k) state[k] = results[1 + k];
    for (size_t k = 0; k < scans; ++k) rows[k].push_back(results[1 + carried + k]);
  }
  for (size_t k = 0; k < carried && k < call.out.size(); ++k) call.out[k] = TRY(as_result(call, state[k], outputs[1 + k]));
  for (size_t k = 0; k < scans && carried + k < call.out.size(); ++k) {
    const Type type = body_outputs(call.view, 0)[1 + carried + k];
    Sizes empty;
    if (type.has_rank())
      for (Dim d : *type.shape) empty.push_back(d.number().value_or(0));
    call.out[carried + k] = TRY(stacked(call.view, rows[k], 0, call.out_dtype(carried + k), std::move(empty)));
  }
  return {};
}

}  // namespace

OP(loop) {
    .name = "Loop",
    .since_version = 25,
    .inputs = {{"m?", "cond?", "v_initial*"}},
    .outputs = {{"v_final_and_scan_outputs*"}},
    .attributes = {{"body: graph!"}},
    .accepts_containers = true,
    .reads_body_types = true,
    .control = Control::loop,
    .infer = infer_loop,
    .result_count = [](const NodeView& view) { return results_of_body(view, 1); },
    .body_input_types = loop_body_inputs,
    .reference = reference_of_loop,
};

}  // namespace tenon::ops::op_loop
