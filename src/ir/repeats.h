// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/graph.h"

namespace tenon::ir {

/// `count` blocks of `period` nodes each, one after the other, equal in ops, attributes and result types; the first one starts at node
/// number `first` of the graph's order.
struct Repeat {
  size_t first = 0, period = 0, count = 0;
  size_t covered() const { return period * count; }
};

/// The layers of a model, in graph order: the repeat that hides most nodes, then the same on both sides of it.
/// longest_block: nodes. Cost: nodes times `longest_block`, for each repeat that is found.
std::vector<Repeat> find_repeats(const Graph& graph, size_t longest_block = 512);

}  // namespace tenon::ir
