// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/assign/costs.h"
#include "partition/cut/least_size.h"
#include "partition/units.h"

namespace tenon::partition {

/// Marks in `dependencies` the nodes that take their results from the size table, whatever their backend.
void find_sized(ir::Dependencies& dependencies, std::span<const NodePlacement> nodes, const Roles& roles);

/// The cut problem of a graph whose nodes run on their preferred backends. Indices are those of units.
Problem problem_of(const ir::Graph& graph, const ir::Dependencies& dependencies, const Units& units, std::span<const NodePlacement> nodes,
                   const Roles& roles);

/// The cut that is requested. Targets of dropped nodes change. `costs`: with assignment by cost. Errors: bad_usage where the walk is
/// requested for and there are not two backends.
struct CutSolution {
  SizedCut sized;
  std::vector<uint32_t> unpaid;  ///< units that fell back because their segment is not profitable, ascending
  uint32_t lower_bound = 0;      ///< on the number of segments, fallback segments included
  uint64_t given_up_after = 0;   ///< see Cut
};
/// normal: the search for the fewest segments is short. extended: where that does not end, a small graph is searched ten times as long.
enum class SearchBudget : uint8_t { normal, extended };
Result<CutSolution> solve_cut(Problem& problem, const Roles& roles, const Constraints& constraints, const Costs* costs = nullptr,
                              SearchBudget budget = SearchBudget::normal);

}  // namespace tenon::partition
