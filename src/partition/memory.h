// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/units.h"

namespace tenon::partition {

/// Enforces Constraints::memory. Units are counted in the order of the graph, fixed ones first. From the first unit that fits alone but
/// exceeds the rest of the limit, that unit and all after it move to their next candidate backend with room, or to the fallback. A backend
/// needs the weights of its nodes, each once, plus the operands and results of its largest node, at their maximum sizes; sizes without a
/// bound count as 64. Bodies are counted on their own. Errors: bad_usage for a backend that is not accelerated or named twice, and for a
/// limit in which no node fits, or not those that are fixed there.
Result<void> enforce_memory_limits(const ir::Graph& graph, const Units& units, std::vector<NodePlacement>& nodes, const Roles& roles,
                                   const Constraints& constraints);

}  // namespace tenon::partition
