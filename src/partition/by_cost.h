// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/assign/costs.h"
#include "partition/build_problem.h"

namespace tenon::partition {

/// What running and moving costs by the guesses of backends. Numbers are those of units. Nodes of a constraint have no choice, as have
/// those whose segment others gave up.
Costs costs_of(const ir::Graph& graph, const Units& units, std::span<const NodePlacement> nodes, const Roles& roles);

/// Chooses the preferred backends of nodes: where all together cost least. Returns a lower bound on the cost, in nanoseconds.
double assign_by_cost(const Costs& costs, const Units& units, std::vector<NodePlacement>& nodes, const Roles& roles);

}  // namespace tenon::partition
