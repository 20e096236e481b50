// SPDX-License-Identifier: Apache-2.0
#include "ops/control/bodies.h"
#include "ops/control/scan_as_loop.h"
#include "ops/control/scan_of_batch.h"
#include "ops/infer/axes.h"
#include "ops/infer/container_types.h"
#include "ops/infer/require.h"
#include "ops/reference/stack.h"

namespace tenon::ops::op_scan {

namespace {

/// Operands: initial states, then sequences; the body gets the states and one slice of each sequence.
struct Parts {
  size_t states = 0, sequences = 0;
  Ints in_axes, out_axes, in_backward, out_backward;
};

Result<Parts> parts_of_scan(const NodeView& view) {
  Parts p;
  const int64_t n = view.attributes->integer("num_scan_inputs", 0);
  if (n < 1 || n > static_cast<int64_t>(view.explicit_inputs))
    return refuse(view, Code::bad_attribute, "num_scan_inputs does not fit the operands");
  TRY(require_formal_inputs(view, view.explicit_inputs));
  p.sequences = static_cast<size_t>(n);
  p.states = view.explicit_inputs - p.sequences;
  const size_t results = view.bodies[0]->outputs().size();
  if (results < p.states) return refuse(view, Code::bad_graph, "the body has too few results");
  p.in_axes = view.attributes->ints("scan_input_axes", Ints(p.sequences, 0));
  p.in_backward = view.attributes->ints("scan_input_directions", Ints(p.sequences, 0));
  p.out_axes = view.attributes->ints("scan_output_axes", Ints(results - p.states, 0));
  p.out_backward = view.attributes->ints("scan_output_directions", Ints(results - p.states, 0));
  if (p.in_axes.size() != p.sequences || p.in_backward.size() != p.sequences || p.out_axes.size() != results - p.states ||
      p.out_backward.size() != results - p.states) {
    return refuse(view, Code::bad_attribute, "axes or directions have a wrong length");
  }
  return p;
}

std::vector<Type> scan_body_inputs(const NodeView& view, size_t body) {
  const auto parts = parts_of_scan(view);
  if (!parts) return {};
  std::vector<Type> out;
  const std::vector<Type> current = body_input_types(view, body), next = body_outputs(view, body);
  for (size_t k = 0; k < parts->states; ++k)
    out.push_back(carried_type(view, view.type(k), k < current.size() ? current[k] : Type(), next[k]));
  for (size_t k = 0; k < parts->sequences; ++k) {
    Type type = view.type(parts->states + k);
    if (type.has_rank()) {
      const auto axis = normalise_axis(view, parts->in_axes[k], type.rank());
      if (!axis) return {};
      type.shape->erase(type.shape->begin() + *axis);
    }
    out.push_back(std::move(type));
  }
  return out;
}

Result<void> infer_scan(NodeView& view) {
  if (view.bodies.size() != 1) return refuse(view, Code::bad_attribute, "needs a body");
  const Parts p = TRY(parts_of_scan(view));
  const std::vector<Type> inputs = body_input_types(view, 0), results = body_outputs(view, 0);
  Dim length = 0;
  for (size_t k = p.sequences; k-- > 0;) {
    const Type& type = view.type(p.states + k);
    const Dim here = type.has_rank() ? type.dim(TRY(normalise_axis(view, p.in_axes[k], type.rank()))) : view.symbols->fresh();
    if (k + 1 < p.sequences && type.has_rank()) TRY(require_equal(view, here, length, "lengths of the sequences"));
    length = here;
  }
  for (size_t k = 0; k < results.size(); ++k) {
    TRY(require_tensor(view, results[k], "a result of the body"));
    if (k < p.states) {
      set_output(view, k, final_type(view, view.type(k), inputs[k]));
      continue;
    }
    Type type = results[k];
    if (type.has_rank())
      type.shape->insert(type.shape->begin() + TRY(normalise_axis(view, p.out_axes[k - p.states], type.rank() + 1)), length);
    set_output(view, k, std::move(type));
  }
  return {};
}

Result<void> reference_of_scan(Call& call) {
  const Parts p = TRY(parts_of_scan(call.view));
  std::vector<Tensor> state;
  for (size_t k = 0; k < p.states; ++k) state.push_back(*call.in[k]);
  Ints axes;
  int64_t length = 0;
  for (size_t k = 0; k < p.sequences; ++k) {
    const Tensor& t = *call.in[p.states + k];
    axes.push_back(TRY(normalise_axis(call.view, p.in_axes[k], t.rank())));
    const int64_t size = t.shape()[static_cast<size_t>(axes.back())];
    if (k > 0 && size != length) return refuse(call.view, Code::shape_mismatch, "the sequences differ in length");
    length = size;
  }
  const size_t scans = call.view.bodies[0]->outputs().size() - p.states;
  std::vector<std::vector<Tensor>> rows(scans);
  const std::vector<Tensor> captures = captures_of(call, 0);
  for (int64_t i = 0; i < length; ++i) {
    std::vector<Tensor> in = state;
    for (size_t k = 0; k < p.sequences; ++k)
      in.push_back(TRY(slice_at(*call.in[p.states + k], axes[k], p.in_backward[k] ? length - 1 - i : i)));
    in.insert(in.end(), captures.begin(), captures.end());
    std::vector<Tensor> results = TRY(call.run_body(0, std::move(in), i));
    for (size_t k = 0; k < p.states; ++k) state[k] = results[k];
    for (size_t k = 0; k < scans; ++k) rows[k].insert(p.out_backward[k] ? rows[k].begin() : rows[k].end(), results[p.states + k]);
  }
  for (size_t k = 0; k < p.states && k < call.out.size(); ++k) call.out[k] = state[k];
  for (size_t k = 0; k < scans && p.states + k < call.out.size(); ++k) {
    const Type type = body_outputs(call.view, 0)[p.states + k];
    Sizes empty;
    if (type.has_rank())
      for (Dim d : *type.shape) empty.push_back(d.number().value_or(0));
    call.out[p.states + k] = TRY(stacked(call.view, rows[k], p.out_axes[k], call.out_dtype(p.states + k), std::move(empty)));
  }
  return {};
}

}  // namespace

OP(scan) {
    .name = "Scan",
    .since_version = 25,
    .inputs = {{"initial_state_and_scan_inputs*"}},
    .outputs = {{"final_state_and_scan_outputs*"}},
    .attributes = {{"body: graph!", "num_scan_inputs: int!", "scan_input_axes: ints", "scan_output_axes: ints",
                    "scan_input_directions: ints", "scan_output_directions: ints"}},
    .reads_body_types = true,
    .infer = infer_scan,
    .result_count = [](const NodeView& view) { return results_of_body(view); },
    .body_input_types = scan_body_inputs,
    .reference = reference_of_scan,
    .definition = scan_as_loop,
    .upgrade = upgrade_scan,
    .lowest_opset = [](const NodeView&) { return 9; },
    .first_opset = 8,
};

}  // namespace tenon::ops::op_scan
