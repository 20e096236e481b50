// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "handles.h"

namespace tenon::python {

/// A name for each result; "": without a name; nullopt: the result is not requested.
using ResultNames = std::vector<std::optional<std::string>>;

/// The arguments for a new node; valid only during the call.
struct NewNode {
  const std::string& op_type;
  const std::string& domain;
  nb::handle inputs;      ///< an iterable of values and None
  nb::handle attributes;  ///< a dict
  nb::handle bodies;      ///< a dict: a Graph, or (Graph, the values of its last inputs)
  int outputs = -1;       ///< number of results; negative: it follows from attributes, constant operands and bodies
  const ResultNames& names;
  bool infer = true;
};

/// Inserts the node before `place` (none: at the end), with at least one result for each name and the results that the op requires. Raises
/// where the node is invalid; the graph is unchanged then.
ir::NodeId make_node(const PyGraph& graph, const NewNode& wanted, ir::NodeId place);

}  // namespace tenon::python
