// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "rewrite/verify/sampling.h"

namespace tenon::rewrite {

/// Estimates the number of steps that the reference evaluator takes for values of one graph, which must outlive this object.
class EvaluationWork {
 public:
  explicit EvaluationWork(const ir::Graph& graph) : graph_(graph) {}
  /// The estimate for a value with `count` elements: the points of its node's loops, reduced axes included, and the elements of its
  /// constant operands. A node without a loop form counts as its definition; where there is none, or sizes follow from data, `count` is the
  /// number of points. A node with several results is counted at the first one that is used. At most 2^53. Cost: loop forms are built once
  /// a node.
  int64_t of(ir::ValueId value, int64_t count, const decltype(Instance::sizes)& sizes);

 private:
  const std::vector<DimList>& loops_of(ir::NodeId node);

  const ir::Graph& graph_;
  std::unordered_map<ir::NodeId, std::vector<DimList>> loops_;  ///< extents of the axes
};

}  // namespace tenon::rewrite
