// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "partition/partition.h"

namespace tenon::partition {

/// partition(), where a backend that is listed before another, or that a node is pinned to, and that refuses a node for its element types
/// alone, gets the node in types that it has, with Casts around it. `supports` is called with the node alone. Types that keep all values
/// are tried first, those of Constraints::narrow after them. Nodes that end elsewhere are left as they were. The graph is changed, or
/// another one. `handed_back`: see partition(). `as_it_was`, where it is given, becomes the graph without the Casts, or null where there
/// are none. Errors: those of partition(). Cost: nothing where no backend refuses; else a question for each distinct node that is refused
/// and each way to change its types, and where one is changed a copy of the graph and another partition().
Result<Partition> partition_with_casts(std::unique_ptr<ir::Graph>& graph, const Roles& roles, const Constraints& constraints,
                                       std::span<const HandedBack> handed_back = {}, std::unique_ptr<ir::Graph>* as_it_was = nullptr);

}  // namespace tenon::partition
