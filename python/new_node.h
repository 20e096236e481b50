// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "handles.h"

namespace tenon::python {

/// A name a result; "": none yet; None: the result is left out.
using ResultNames = std::vector<std::optional<std::string>>;

/// What a caller says of a new node. Only read while the call lasts.
struct NewNode {
  const std::string& op_type;
  const std::string& domain;
  nb::handle inputs;      ///< of values and None
  nb::handle attributes;  ///< a dict
  nb::handle bodies;      ///< a dict: a Graph, or (Graph, the values of its last inputs)
  int outputs = -1;       ///< negative: as many as attributes, constant operands and bodies say
  const ResultNames& names;
  bool infer = true;
};

/// Makes it before `place` (none: at the end). It has a result for each name at least, and those that the op must have.
/// Raises where it makes no sense; then the graph is as it was.
ir::NodeId make_node(const PyGraph& graph, const NewNode& wanted, ir::NodeId place);

}  // namespace tenon::python
