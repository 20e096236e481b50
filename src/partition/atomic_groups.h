// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/partition.h"

namespace tenon::partition {

/// Nodes that an accelerated backend runs together or not at all.
struct AtomicGroup {
  enum class Kind : uint8_t { quantized, non_tensor };
  Kind kind = Kind::quantized;
  bool open = false;            ///< one of its values is a graph input or output that is not a tensor, so no accelerated backend can run it
  std::vector<uint32_t> nodes;  ///< positions in the order of the graph, ascending
};

/// The groups of a graph: dequantize, compute and quantize nodes (OpDef::placed_with), and nodes that exchange sequences, maps and
/// optional values. Cost: linear.
std::vector<AtomicGroup> atomic_groups(const ir::Graph& graph);

/// Places the nodes of each group on the first backend that supports all of them, or on the fallback. Returns the groups on accelerated
/// backends. Errors: bad_usage where pins separate the nodes of a group.
Result<std::vector<AtomicGroup>> place_groups(const ir::Graph& graph, std::vector<AtomicGroup> groups, std::vector<NodePlacement>& nodes,
                                              const Roles& roles);

/// Assigns each node of the group to its fallback.
void assign_to_fallback(const AtomicGroup& group, std::vector<NodePlacement>& nodes, const std::string& why);

}  // namespace tenon::partition
