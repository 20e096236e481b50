// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/assign/costs.h"
#include "partition/cut/least_size.h"
#include "partition/units.h"

namespace tenon::partition {

/// Notes at the dependencies which nodes take their results from the table of sizes, wherever they end.
void find_sized(ir::Dependencies& dependencies, std::span<const NodePlacement> nodes, const Roles& roles);

/// The problem of cutting a graph whose nodes run where they are wanted. Numbers are those of units.
Problem problem_of(const ir::Graph& graph, const ir::Dependencies& dependencies, const Units& units, std::span<const NodePlacement> nodes,
                   const Roles& roles);

/// The cut that is requested. Targets of dropped nodes change. `costs`: with assignment by cost. Errors: bad_usage where the walk is asked
/// for and there are not two backends.
struct CutSolution {
  SizedCut sized;
  std::vector<uint32_t> unpaid;  ///< units that fell back because their segment does not pay, ascending
  uint32_t lower_bound = 0;      ///< on segments of the targets that the nodes end with, those that fell back included
  uint64_t given_up_after = 0;   ///< see Cut
};
/// normal: the search for the fewest segments is short. extended: where that does not end, a small graph is searched ten times as long.
enum class SearchBudget : uint8_t { normal, extended };
Result<CutSolution> solve_cut(Problem& problem, const Roles& roles, const Constraints& constraints, const Costs* costs = nullptr,
                              SearchBudget budget = SearchBudget::normal);

}  // namespace tenon::partition
