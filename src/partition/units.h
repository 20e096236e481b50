// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/atomic_groups.h"

namespace tenon::partition {

/// The nodes of a graph, grouped into units that are cut as one; most units are one node. Units are in topological order.
class Units {
 public:
  /// A unit for each node.
  explicit Units(size_t nodes = 0);
  /// By NodePlacement::unit.
  explicit Units(std::span<const NodePlacement> nodes);

  uint32_t size() const { return static_cast<uint32_t>(first_.size()) - 1; }
  std::span<const uint32_t> nodes(uint32_t unit) const { return std::span(nodes_).subspan(first_[unit], first_[unit + 1] - first_[unit]); }

 private:
  std::vector<uint32_t> nodes_, first_;
};

/// Numbers the nodes' units: each of `groups` is one. Groups that other nodes would interrupt are given up. Cost: linear.
void number_units(const ir::Dependencies& dependencies, std::vector<AtomicGroup> groups, std::vector<NodePlacement>& nodes);

}  // namespace tenon::partition
