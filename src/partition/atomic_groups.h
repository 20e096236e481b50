// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/partition.h"

namespace tenon::partition {

/// Nodes that an accelerated backend runs together or not at all, as numbers of nodes, ascending.
struct AtomicGroup {
  enum class Kind : uint8_t { quantized, non_tensor };
  Kind kind = Kind::quantized;
  bool open = false;  ///< a graph input or output is no tensor: accelerated backends have none
  std::vector<uint32_t> nodes;
};

/// The groups of a graph: dequantize, compute and quantize nodes (OpDef::placed_with), and nodes that exchange sequences, maps and
/// optional values. Cost: linear.
std::vector<AtomicGroup> atomic_groups(const ir::Graph& graph);

/// Brings the nodes of each to the first target that all may have, or to the fallback; returns those that stay together on an accelerated
/// one. Errors: bad_usage, where pins part them.
Result<std::vector<AtomicGroup>> place_groups(const ir::Graph& graph, std::vector<AtomicGroup> groups, std::vector<NodePlacement>& nodes,
                                              const Roles& roles);

/// Assigns each node of the group to its fallback.
void give_up(const AtomicGroup& group, std::vector<NodePlacement>& nodes, const std::string& why);

}  // namespace tenon::partition
