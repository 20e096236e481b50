// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/equation/equation.h"

namespace tenon::rewrite {

struct PatternGraphOptions {
  /// Whether nodes must have the attributes of the pattern; one that the pattern leaves out must have its default. false: attributes are
  /// ignored, for callers that compare them.
  bool compare_attributes = true;
};

/// The equation `match => apply` of two small graphs, built with the graph builder or read from models.
/// Inputs are the variables: those of `apply` are those of `match` of the same name, or, where the names are others, for those at
/// the same place. Constants compare by value: one float everywhere as a number, which takes the dtype of what it meets; integers element
/// by element; any other tensor with its shape. Outputs are the roots, as many on both sides. Types of inputs do not matter.
/// Nodes that no output needs are left out.
/// Errors: bad_rule where the sides do not fit; not_supported for nodes with bodies and for ops that give another result each time.
/// Cost: as many terms as the graph has nodes; a node that is used k times is looked at k times.
Result<Equation> equation_of(const ir::Graph& match, const ir::Graph& apply, const PatternGraphOptions& options = {});

/// The nodes of the pattern in the order in which its equation matches them: node k is matched by Match::nodes[k].
std::vector<ir::NodeId> visit_order(const ir::Graph& match);

}  // namespace tenon::rewrite
