// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/graph.h"

namespace tenon::ir {

/// Checks every invariant of the graph and its bodies: order, use-lists both ways, captures, unique names, arity, live ids.
/// Errors: internal, naming node and invariant. Cost: linear.
Result<void> verify(const Graph& graph);

}  // namespace tenon::ir
