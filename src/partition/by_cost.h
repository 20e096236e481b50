// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/assign/costs.h"
#include "partition/build_problem.h"

namespace tenon::partition {

/// Costs of running units and of copying values between backends, from Backend::cost and Backend::overheads. Indices are those of units.
/// Nodes with a constraint, and nodes of a segment that a backend failed to compile, have one candidate.
Costs costs_of(const ir::Graph& graph, const Units& units, std::span<const NodePlacement> nodes, const Roles& roles);

/// Chooses the preferred backends of nodes so that the total cost is least. Returns a lower bound on the cost, in nanoseconds.
double assign_by_cost(const Costs& costs, const Units& units, std::vector<NodePlacement>& nodes, const Roles& roles);

}  // namespace tenon::partition
