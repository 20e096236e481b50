// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "ir/graph.h"

namespace tenon::backend {

/// The size that estimates assume for a symbol: 64, or the nearest number in its range.
int64_t guessed_size(const DimNode& symbol);
/// The work of a node in one run; unknown sizes count as guessed_size().
struct Work {
  double steps = 0;  ///< iterations of its loops; elements of its results where it has no loop form
  double bytes = 0;  ///< of its operands and results, strings aside
};
Work work_of(const ir::Graph& graph, ir::NodeId node);
/// Bytes of a value, with guessed_size() for unknown sizes.
double bytes_of(const ir::Type& type);
/// Bytes of a value at its largest sizes; nullopt where a size has no upper bound.
std::optional<int64_t> max_bytes(const ir::Type& type);

}  // namespace tenon::backend
