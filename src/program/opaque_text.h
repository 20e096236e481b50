// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tenon::program {

/// A node as a graph of its own, in text form. Small constant operands are inside; the others are its inputs, in order.
struct OpaqueText {
  std::string text;
  std::vector<size_t> operands;  ///< which operand slots of the node feed the inputs
};
Result<OpaqueText> opaque_text(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::program
