// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/equation/equation.h"

namespace tenon::rewrite {

/// How two graphs become an equation.
struct PatternGraphOptions {
  /// Whether nodes must have the attributes of the pattern; one that the pattern leaves out must have its default. false: attributes are
  /// ignored, for callers that compare them.
  bool compare_attributes = true;
};

/// The equation `match => apply` of two small graphs, built with the graph builder or read from models.
/// Inputs are the variables: those of `apply` are those of `match` of the same name, or, where the names are others, for those at
/// the same place. Constants compare by value: a splat of floats as a number, which takes the dtype of its neighbouring operand; integers
/// element by element; any other tensor with its shape. Outputs are the roots, as many on both sides. Types of inputs do not matter.
/// Dead nodes are ignored.
/// Errors: bad_rule where the sides do not fit; not_supported for nodes with bodies and for non-deterministic ops.
/// Cost: as many terms as the graph has nodes; a node with k uses is visited k times.
Result<Equation> equation_of(const ir::Graph& match, const ir::Graph& apply, const PatternGraphOptions& options = {});

/// The nodes of the pattern in the order in which its equation matches them: node k is matched by Match::nodes[k].
std::vector<ir::NodeId> visit_order(const ir::Graph& match);

}  // namespace tenon::rewrite
