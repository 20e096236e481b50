// SPDX-License-Identifier: Apache-2.0
#include "ops/control/bodies.h"
#include "ops/control/scan_as_loop.h"
#include "ops/definition/body_builder.h"
#include "ops/infer/axes.h"
#include "ops/infer/require.h"
#include "ops/sequence/elements.h"

namespace tenon::ops::op_scan {

namespace {

/// Operands: initial states, then sequences; the body sees the states and one slice of each sequence.
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
      const auto axis = normal_axis(view, parts->in_axes[k], type.rank());
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
    const Dim here = type.has_rank() ? type.dim(TRY(normal_axis(view, p.in_axes[k], type.rank()))) : view.symbols->fresh();
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
      type.shape->insert(type.shape->begin() + TRY(normal_axis(view, p.out_axes[k - p.states], type.rank() + 1)), length);
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
    axes.push_back(TRY(normal_axis(call.view, p.in_axes[k], t.rank())));
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
      in.push_back(TRY(sliced(*call.in[p.states + k], axes[k], p.in_backward[k] ? length - 1 - i : i)));
    in.insert(in.end(), captures.begin(), captures.end());
    std::vector<Tensor> results = TRY(call.run_body(0, std::move(in)));
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

/// Does the upgrade of the node leave it as it is?
bool is_newest(ir::Graph& body, ir::NodeId n, int opset) {
  const OpDef& def = def_of(*body.node(n).op);
  if (!def.upgrade || def.since <= opset) return true;
  const ir::Attributes attributes = body.node(n).attributes;
  const std::vector<ir::ValueId> inputs = body.node(n).inputs;
  const size_t nodes = body.node_count();
  return def.upgrade(body, n, opset) && body.node_count() == nodes && body.alive(n) && body.node(n).attributes == attributes &&
         body.node(n).inputs == inputs;
}

/// Is every op of the body, a copy, what it was in `opset`?
bool speaks(ir::Graph& body, int opset) {
  for (ir::NodeId n : body.nodes()) {
    if (!is_newest(body, n, opset)) return false;
    for (size_t k = 0; k < body.node(n).bodies.size(); ++k)
      if (!speaks(body.body(n, k), opset)) return false;
  }
  return true;
}

/// Opset 8 has a batch: operands [lengths?, states..., sequences...] with a first axis over which the scan is repeated. That is a Scan
/// over the entries of the batch whose body is the scan of one entry.
Result<void> upgrade_scan(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 9) return {};
  const ir::Node& old = graph.node(node);
  if (old.bodies.size() != 1 || old.inputs.empty() || old.inputs[0])
    return fail(Code::not_supported, old.name, "Scan: not supported yet: sequence_lens of opset 8");
  if (!speaks(*old.bodies[0].graph->clone_body(graph), opset))
    return fail(Code::not_supported, old.name, "Scan: not supported yet: a body of opset 8 with ops that have changed since");
  const std::vector<ir::ValueId> operands(old.inputs.begin() + 1, old.inputs.begin() + old.explicit_inputs);
  const int64_t sequences = old.attributes.integer("num_scan_inputs", 0);
  const size_t results = old.outputs.size();
  ir::Builder build(graph, node);
  BodyBuilder body(build);
  std::vector<ir::ValueId> entry;
  for (ir::ValueId v : operands) {
    Type type = graph.value(v).type;
    if (type.has_rank() && type.rank() > 0) type.shape->erase(type.shape->begin());
    entry.push_back(body.input("x" + std::to_string(entry.size()), std::move(type)));
  }
  std::vector<ir::ValueId> captures;
  for (size_t k = old.explicit_inputs; k < old.inputs.size(); ++k) captures.push_back(body.capture(old.inputs[k]));
  const std::vector<ir::ValueId> made =
      body.build.with_body("Scan", entry, results, old.bodies[0].graph->clone_body(*body.graph), captures,
                           {{"num_scan_inputs", sequences},
                            {"scan_input_directions", old.attributes.ints("directions", Ints(static_cast<size_t>(sequences), 0))}});
  TRY(body.build.status());
  for (ir::ValueId v : made) body.graph->add_output(v);
  const std::vector<ir::ValueId> all = build.with_body("Scan", operands, results, std::move(body.graph), body.captured,
                                                       {{"num_scan_inputs", static_cast<int64_t>(operands.size())}});
  TRY(build.status());
  for (size_t k = 0; k < results; ++k)
    if (const ir::ValueId before = graph.node(node).outputs[k]; before) TENON_ASSERT(graph.replace_all_uses(before, all[k]));
  graph.erase(node);
  return {};
}

}  // namespace

OP(scan) {
    .name = "Scan",
    .since = 25,
    .inputs = names<"initial_state_and_scan_inputs*">,
    .outputs = names<"final_state_and_scan_outputs*">,
    .attributes = names<"body: graph!", "num_scan_inputs: int!", "scan_input_axes: ints", "scan_output_axes: ints",
                        "scan_input_directions: ints", "scan_output_directions: ints">,
    .reads_body_types = true,
    .infer = infer_scan,
    .body_inputs = scan_body_inputs,
    .reference = reference_of_scan,
    .definition = scan_as_loop,
    .upgrade = upgrade_scan,
    .lowest_opset = [](const NodeView&) { return 9; },
    .first = 8,
};

}  // namespace tenon::ops::op_scan
