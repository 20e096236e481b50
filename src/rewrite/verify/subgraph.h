// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/driver/apply.h"

namespace tenon::rewrite {

/// The two sides of a proposal as graphs of their own, which can be run and compared. Both have the same inputs in the same order, and one
/// output for each replacement. Constants and symbols are those of the original graph, which must outlive the subgraph.
struct Subgraph {
  std::unique_ptr<ir::Graph> before, after;
  /// By input of both graphs: the value of the original graph.
  std::vector<ir::ValueId> inputs;
  /// Nodes of the original graph that `before` was copied from, in topological order.
  std::vector<ir::NodeId> nodes;
  bool is_whole = false;  ///< a larger `extra_steps` would add no node
};

/// Extracts the match and its new nodes. Their operands from outside become inputs, but for producers on a short path from one input to
/// another, which become part of both sides. `extra_steps`: so many further levels of producers become part of both sides too, for rules
/// that depend on properties of their operands. Errors: not_supported where a side cannot be run on its own (random or with effects, a
/// value of unknown dtype, no replacement).
Result<Subgraph> extract_subgraph(const Proposal& proposal, int extra_steps = 0);

}  // namespace tenon::rewrite
