// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/verify_types.h"

#include "ops/core/refuse.h"
#include "ops/infer/types.h"

namespace tenon::ops {

namespace {

bool agrees(const Type& stored, const Type& inferred) {
  if (stored.kind != inferred.kind) return inferred.is_tensor() && inferred.dtype == DType::none;
  if (stored.dtype != DType::none && inferred.dtype != DType::none && stored.dtype != inferred.dtype) return false;
  if (!stored.has_rank() || !inferred.has_rank()) return true;
  if (stored.rank() != inferred.rank()) return false;
  for (int a = 0; a < stored.rank(); ++a) {
    if (!stored.dim(a).equals(inferred.dim(a)).value_or(true)) return false;
  }
  return true;
}

}  // namespace

Result<void> verify_types(const ir::Graph& graph) {
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    NodeView view = graph.view(id);
    const std::vector<Type> stored = view.outputs;
    TRY(node.op->infer(view));
    for (size_t k = 0; k < stored.size(); ++k) {
      if (!node.outputs[k] || agrees(stored[k], view.outputs[k])) continue;
      return refuse(view, Code::internal, "stored type of result " + std::to_string(k) + " is not what inference says")
          .expected(view.outputs[k].text())
          .found(stored[k].text());
    }
    for (const ir::Body& body : node.bodies) TRY(verify_types(*body.graph));
  }
  return {};
}

}  // namespace tenon::ops
