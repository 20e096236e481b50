// SPDX-License-Identifier: Apache-2.0
#include "codegen/control.h"

#include <algorithm>

namespace tenon::codegen {

namespace {

bool is_tensor(const ir::Type& t) { return t.kind == ir::Type::Kind::tensor; }
bool is_ranked(const ir::Type& t) { return is_tensor(t) && t.has_rank(); }

bool body_fits(const ir::Graph& body) {
  auto ranked = [&](ir::ValueId v) { return is_ranked(body.value(v).type); };
  return std::ranges::all_of(body.inputs(), ranked) && std::ranges::all_of(body.outputs(), ranked) &&
         std::ranges::all_of(body.values(), [&](ir::ValueId v) { return is_tensor(body.value(v).type); });
}

}  // namespace

bool runs_as_programs(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (!node.is("If") && !node.is("Loop")) return false;
  for (ir::ValueId v : node.outputs)
    if (v && !is_ranked(graph.value(v).type)) return false;
  return std::ranges::all_of(node.bodies, [](const ir::Body& b) { return body_fits(*b.graph); });
}

}  // namespace tenon::codegen
