// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/driver/apply.h"

namespace tenon::rewrite {

/// A proposal cut out of its graph: before and after it, as two graphs that can be run and compared. Both have the same
/// inputs in the same order and one output a replacement. Constants are shared with the graph, which must outlive the subgraph (and lends
/// its symbols).
struct Subgraph {
  std::unique_ptr<ir::Graph> before, after;
  /// For each input, the value of the original graph that it stands for.
  std::vector<ir::ValueId> inputs;
  /// Nodes of the original graph that `before` was copied from, in topological order.
  std::vector<ir::NodeId> nodes;
  bool is_whole = false;  ///< nothing is left that a wider cut would take in
};

/// Cuts the match and what was made for it. Everything else is an input, but for producers that lead, in a few steps, from one such
/// input to another: those are part of both sides. `wider`: how many steps further back producers become part of both sides, for rules that
/// depend on properties of the values that they start from.
/// Errors: not_supported where a side cannot be run apart (random or with effects, a value of unknown dtype, no replacement).
Result<Subgraph> cut(const Proposal& proposal, int wider = 0);

}  // namespace tenon::rewrite
