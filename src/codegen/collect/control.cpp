// SPDX-License-Identifier: Apache-2.0
#include "codegen/collect/control.h"

#include <algorithm>

#include "ops/core/op.h"

namespace tenon::codegen {

namespace {

/// Whether an input or output of a program can have the type.
bool has_known_type(const ir::Type& t) { return t.is_tensor() ? t.has_rank() : t.dtype != DType::none; }

bool body_fits(const ir::Graph& body) {
  auto known = [&](ir::ValueId v) { return has_known_type(body.value(v).type); };
  return std::ranges::all_of(body.inputs(), known) && std::ranges::all_of(body.outputs(), known);
}

/// Whether each carried value of the loop has one kind (tensor, sequence, optional) as input and output of the body.
bool keeps_kinds(const ir::Node& loop) {
  const ir::Graph& body = *loop.bodies[0].graph;
  for (size_t k = 2; k < loop.explicit_inputs; ++k)
    if (body.value(body.inputs()[k]).type.kind != body.value(body.outputs()[k - 1]).type.kind) return false;
  return true;
}

}  // namespace

bool runs_as_programs(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const ops::Control control = ops::def_of(*node.op).control;
  if (control == ops::Control::none) return false;
  for (ir::ValueId v : node.outputs)
    if (v && !has_known_type(graph.value(v).type)) return false;
  if (control == ops::Control::loop && !keeps_kinds(node)) return false;
  return std::ranges::all_of(node.bodies, [](const ir::Body& b) { return body_fits(*b.graph); });
}

}  // namespace tenon::codegen
