// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/units.h"

namespace tenon::partition {

/// Where backends have little memory (Constraints::memory), units that find no room go to the next backend of their choices that has some,
/// in the order of the graph: the first that would fit alone and finds no room, and all after it. Those that stay where they are come
/// first. A backend needs the weights of its nodes, each once, and the operands and results of the largest of them, at the most that their
/// sizes can be; sizes without a bound count as 64. Bodies are counted on their own. Errors: bad_usage for a backend that is not
/// accelerated or named twice, for a limit in which not one node fits, or not those pinned there.
Result<void> keep_memory(const ir::Graph& graph, const Units& units, std::vector<NodePlacement>& nodes, const Roles& roles,
                         const Constraints& constraints);

}  // namespace tenon::partition
