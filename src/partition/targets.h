// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "partition/partition.h"

namespace tenon::partition {

/// The backend of a node, before the graph is cut.
struct Target {
  uint16_t backend = 0;
  uint16_t fallback_target = 0;   ///< runs the node where its accelerated segment is moved to the fallback
  bool pinned = false;            ///< the node keeps its backend in any segment
  std::vector<uint16_t> choices;  ///< all backends that support it, where requested
  std::vector<Reason> reasons;
};

/// Assigns nodes to backends. Sizes that follow from the inputs come from the size table of the host backend where that is not an
/// accelerated one, so that no segment depends on their nodes.
class Targets {
 public:
  /// Keeps references to its arguments. `failed_segments`: of this graph.
  Targets(const ir::Graph& graph, const ir::Dependencies& dependencies, const Roles& roles, std::span<const FailedSegment> failed_segments);
  /// `all_choices`: with all backends that support the node. Errors: see partition().
  Result<Target> of(ir::NodeId node, bool all_choices) const;

 private:
  const ir::Graph& graph_;
  const ir::Dependencies& dependencies_;
  const Roles& roles_;
  std::span<const FailedSegment> failed_segments_;
  std::optional<uint16_t> sizes_;  ///< the host backend, which has the size table; nullopt where it is accelerated
};

/// Whether the node does work that is worth accelerating: it is not an Identity, a Reshape or other view, shape arithmetic, or a Cast that
/// partitioning inserted.
bool does_work(const ir::Graph& graph, ir::NodeId node);

}  // namespace tenon::partition
