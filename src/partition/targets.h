// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "partition/partition.h"

namespace tenon::partition {

/// Where a node goes.
struct Target {
  uint16_t backend = 0;
  uint16_t falls_to = 0;          ///< where it goes when it is not accelerated
  bool pinned = false;            ///< it stays, whatever its segment
  std::vector<uint16_t> choices;  ///< all that might run it, where requested
  std::vector<Reason> reasons;
};

/// Assigns nodes to backends. Sizes that follow from the inputs are computed where kernels are made, if that is no accelerated backend: no
/// segment waits for them.
class Targets {
 public:
  /// Keeps what it is given by reference. `handed_back`: nodes of this graph.
  Targets(const ir::Graph& graph, const ir::Dependencies& dependencies, const Roles& roles, std::span<const HandedBack> handed_back);
  /// `all_choices`: with all that might run it. Errors: see partition().
  Result<Target> of(ir::NodeId node, bool all_choices) const;

 private:
  const ir::Graph& graph_;
  const ir::Dependencies& dependencies_;
  const Roles& roles_;
  std::span<const HandedBack> handed_back_;
  std::optional<uint16_t> sizes_;  ///< the backend that has a table of them
};

/// It is no Identity, no Reshape or the like, no shape arithmetic, and no Cast that partitioning has put there.
bool does_work(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::partition
