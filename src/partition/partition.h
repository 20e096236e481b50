// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/segment.h"
#include "partition/constraints.h"

namespace tenon::partition {

/// Why a node runs on its backend, or not on another one.
struct Reason {
  std::string
      code;  ///< chosen, unsupported, handed_back, pinned, fallback_op, fallback_module, non_tensor, too_small, does_not_pay, over_budget
  std::string text;
};

struct Partition;
/// The backend and segment of one node. Backends are indices into Roles::backends.

struct NodePlacement {
  ir::NodeId node;
  std::string name;                ///< see names_of_nodes
  uint16_t backend = 0;            ///< runs the node
  uint16_t preferred_backend = 0;  ///< before segments that are too small or unprofitable moved to the fallback
  uint16_t fallback_target = 0;    ///< the backend where its segment moves to the fallback; not accelerated
  bool is_fixed = false;           ///< keeps its backend in any segment: pinned, or no other backend supports it
  uint32_t unit = 0;               ///< nodes of one unit run on one backend: see atomic_groups.h
  uint32_t segment = 0;
  bool does_work = true;                ///< see does_work()
  bool first_backend_supports = false;  ///< set for nodes in atomic groups only
  std::vector<Reason> reasons;
  std::vector<uint16_t> choices;  ///< backends that support it; with assignment by cost, memory limits or in atomic groups
  std::vector<Partition> bodies;  ///< partitions of its bodies, where these run as programs
};

/// A value at a segment boundary: one segment produces it, another reads it.
struct Border {
  ir::ValueId value;
  uint32_t from = 0, to = 0;  ///< segments
};

/// The backend of each node of a graph, and its segments.
struct Partition {
  std::vector<NodePlacement> nodes;   ///< in the order of the graph
  std::vector<ir::Segment> segments;  ///< in the order of running, those of the host backend too
  std::vector<uint16_t> backends;     ///< of each segment
  std::vector<Border> borders;        ///< ordered by the segment that reads
  uint32_t lower_bound = 0;           ///< on the number of segments for these backends of the nodes
  uint64_t stopped_after_visits = 0;  ///< visits of nodes and edges after which the search for fewer segments stopped; 0: it ended
  /// With assignment by cost: the predicted time of a run, and a lower bound for any assignment (nodes and copies, without launches).
  struct Predicted {
    double ns = 0, lower_bound_ns = 0;
  };
  std::optional<Predicted> predicted;
  /// Whether no partition with these backends of the nodes has fewer segments.
  bool proved() const { return lower_bound == segments.size(); }
  /// The part of the nodes that do work that runs on accelerated backends; 1 where no node does work.
  double accelerated_share(const Roles& roles) const;
  /// The segments of all backends but the host backend.
  std::vector<ir::Segment> device_segments(const Roles& roles) const;
};

/// Expands fused ops that no backend but the last supports to plain ops, in bodies too, and lets each backend prepare the graph
/// (Backend::prepare). Errors: those of an op's definition and of Backend::prepare.
Result<void> prepare(ir::Graph& graph, const backend::Backends& backends);

/// Assigns each node to the first backend that supports it and that no constraint excludes, and cuts the graph into the fewest segments.
/// Bodies of branches and loops that run as programs are partitioned on their own. Errors: not_supported for a node that no backend
/// supports, with the reason of each, for a pinned node that its backend does not support, and where require_full is set and a node is not
/// accelerated; those of an invalid graph. Cost: linear, and see fewest_segments() for more than two backends.
Result<Partition> partition(const ir::Graph& graph, const Roles& roles, const Constraints& constraints,
                            std::span<const FailedSegment> failed_segments = {});

}  // namespace tenon::partition
