// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/graph.h"

namespace tenon::backend {

/// The size that guesses take for a symbol: 64, or the nearest that it may have.
int64_t guessed_size(const DimNode& symbol);
/// What a node does in one run, where a size that is not known is guessed.
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
