// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/segment.h"
#include "partition/constraints.h"

namespace tenon::partition {

/// Why a node runs where it does, or not where it might.
struct Reason {
  std::string
      code;  ///< chosen, unsupported, handed_back, pinned, fallback_op, fallback_module, non_tensor, too_small, does_not_pay, over_budget
  std::string text;
};

struct Partition;

struct NodePlacement {
  ir::NodeId node;
  std::string name;      ///< see names_of_nodes
  uint16_t backend = 0;  ///< counts those of the roles
  uint16_t wanted = 0;   ///< the one that it would have, were its segment large enough
  uint16_t falls_to = 0;
  bool stays = false;  ///< whatever its segment: pinned, or nobody else takes it
  uint32_t unit = 0;   ///< those of one number run together: see atomic_groups.h
  uint32_t segment = 0;
  bool works = true;       ///< see does_work()
  bool first_may = false;  ///< the first backend may run it: known of nodes in atomic groups
  std::vector<Reason> reasons;
  std::vector<uint16_t> choices;  ///< with assignment by cost: who might run it
  std::vector<Partition> bodies;  ///< where they run as programs
};

/// A value that one segment makes and another reads.
struct Border {
  ir::ValueId value;
  uint32_t from = 0, to = 0;
};

/// Who runs what of a graph.
struct Partition {
  std::vector<NodePlacement> nodes;   ///< in the order of the graph
  std::vector<ir::Segment> segments;  ///< in the order of running, those in kernels too
  std::vector<uint16_t> backends;     ///< of the segments
  std::vector<Border> borders;        ///< by the segment that reads
  uint32_t lower_bound = 0;           ///< on segments of nodes that run where they do here
  uint64_t given_up_after = 0;        ///< visits of nodes and edges, where the search for fewer segments did not end
  /// With assignment by cost, in nanoseconds: what a run takes, and what no assignment is below (of nodes and borders, starts aside).
  struct Predicted {
    double ns = 0, least = 0;
  };
  std::optional<Predicted> predicted;
  bool proved() const { return lower_bound == segments.size(); }
  /// Of the nodes that do work, the part that accelerated backends run; 1 where there are none.
  double accelerated_share(const Roles& roles) const;
  /// The segments of other backends than the host backend, which runs what is in none.
  std::vector<ir::Segment> of_devices(const Roles& roles) const;
};

/// Writes fused ops that no backend but the last runs as they are out in plain ops, in bodies too, and lets each backend prepare the
/// graph. Errors: those of a definition; what a backend's preparation says.
Result<void> prepare(ir::Graph& graph, const backend::Backends& backends);

/// Gives each node to the first backend that supports it and that no constraint forbids, and cuts the graph into the fewest segments.
/// Bodies of branches and loops that run as programs are partitioned on their own. Errors: not_supported for a node that no backend
/// supports, with all their reasons, for a pin that its backend refuses, and where everything is to be accelerated and is not; whatever
/// makes the graph illegal. Cost: linear, and see fewest_segments() for more than two backends.
Result<Partition> partition(const ir::Graph& graph, const Roles& roles, const Constraints& constraints,
                            std::span<const HandedBack> handed_back = {});

}  // namespace tenon::partition
