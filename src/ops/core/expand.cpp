// SPDX-License-Identifier: Apache-2.0
#include "ops/core/replace_node.h"

namespace tenon::ops {

Result<void> expand(ir::Graph& graph, ir::NodeId node) {
  const OpDef& def = def_of(*graph.node(node).op);
  if (!def.definition)
    return fail(Code::not_supported, graph.view(node).where(), std::string(def.name) + " has no definition in plain ops");
  return replace_node(graph, node, def.definition);
}

}  // namespace tenon::ops
