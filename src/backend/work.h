// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/graph.h"

namespace tenon::backend {

/// What a node does in one run, where a size that is not known counts as 64.
struct Work {
  double steps = 0;  ///< iterations of its loops; elements of its results where it has no loop form
  double bytes = 0;  ///< of its operands and results, strings aside
};
Work work_of(const ir::Graph& graph, ir::NodeId node);
/// Of a value, likewise.
double bytes_of(const ir::Type& type);
/// Of a value, at the largest sizes; none where these have no bound.
std::optional<int64_t> most_bytes(const ir::Type& type);

}  // namespace tenon::backend
