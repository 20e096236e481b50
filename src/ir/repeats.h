// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "ir/graph.h"

namespace tenon::ir {

/// A repeated block: `count` consecutive blocks of `period` nodes each, equal in ops, attributes and result types, from position `first` in
/// the order of the graph.
struct Repeat {
  size_t first = 0, period = 0, count = 0;
  size_t node_count() const { return period * count; }
};

/// Finds repeated blocks (the layers of a model), in graph order: the repeat with most nodes after its first block, then, recursively,
/// those before and after it. longest_block: the greatest period. Cost: nodes times `longest_block`, for each repeat that is found.
std::vector<Repeat> find_repeats(const Graph& graph, size_t longest_block = 512);

}  // namespace tenon::ir
