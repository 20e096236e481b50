// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/partition.h"

namespace tenon::partition {

/// Where a node goes.
struct Target {
  uint16_t backend = 0;
  uint16_t falls_to = 0;          ///< where it goes when it is not accelerated
  bool pinned = false;            ///< it stays, whatever its segment
  std::vector<uint16_t> choices;  ///< all that might run it, where that is asked
  std::vector<Reason> reasons;
};

/// Errors: see partition().
Result<Target> target_of(const ir::Graph& graph, ir::NodeId node, const Roles& roles, std::span<const HandedBack> handed_back,
                         bool all_choices);

/// It is no Identity, no Reshape or the like, and no shape arithmetic.
bool does_work(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::partition
