// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "partition/partition.h"

namespace tenon::partition {

/// Partitions a graph, and inserts Casts where a backend refuses a node only for its element types: the node then runs on that backend in
/// other types. This applies to backends of higher priority than the one that runs the node, and to the backend that the node is pinned to.
/// Types that keep all values are tried first, then those of Constraints::narrow. Nodes that end on another backend keep their types.
/// `graph` is changed or replaced. `failed_segments`: see partition(). `original` (may be null) becomes the graph without the Casts, or
/// null where none were inserted. Errors: those of partition(). Cost: nothing where no backend refuses a node; else a call of `supports`
/// for each distinct refused node and candidate types, and where types change a copy of the graph and another partition().
Result<Partition> partition_with_casts(std::unique_ptr<ir::Graph>& graph, const Roles& roles, const Constraints& constraints,
                                       std::span<const FailedSegment> failed_segments = {}, std::unique_ptr<ir::Graph>* original = nullptr);

}  // namespace tenon::partition
