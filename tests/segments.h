// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "codegen/collect/role.h"
#include "ir/segment.h"

namespace tenon::tests {

/// What kernels cannot run, a segment a node: for tests of floors below that of partitioning.
inline std::vector<ir::Segment> nodes_alone(const ir::Graph& graph) {
  std::vector<ir::Segment> out;
  const ir::Dependencies dependencies(graph);
  for (ir::NodeId n : graph.nodes())
    if (!codegen::role_of(graph, n)) out.push_back(ir::segment_of(graph, dependencies, "reference", {n}));
  return out;
}

}  // namespace tenon::tests
