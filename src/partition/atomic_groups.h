// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/partition.h"

namespace tenon::partition {

/// Nodes that an accelerated backend runs together or not at all, as numbers of nodes, ascending.
struct AtomicGroup {
  enum class Kind : uint8_t { quantized, non_tensor };
  Kind kind = Kind::quantized;
  bool open = false;  ///< a value that is no tensor comes in or goes out of the graph: accelerated backends take and give none
  std::vector<uint32_t> nodes;
};

/// What belongs together in a graph: dequantizing, what is done with it, and quantizing its result (OpDef::kept_with); and all nodes that
/// pass each other sequences, maps and optional values. Cost: linear.
std::vector<AtomicGroup> atomic_groups(const ir::Graph& graph);

/// Brings the nodes of each to the first target that all may have, or to the fallback; returns those that stay together on an accelerated
/// one. Errors: bad_usage, where pins part them.
Result<std::vector<AtomicGroup>> agree(const ir::Graph& graph, std::vector<AtomicGroup> kept, std::vector<NodePlacement>& nodes,
                                       const Roles& roles);

/// They fall back, each for itself.
void give_up(const AtomicGroup& kept, std::vector<NodePlacement>& nodes, const std::string& why);

}  // namespace tenon::partition
