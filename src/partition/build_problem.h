// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/assign/costs.h"
#include "partition/cut/min_block_size.h"
#include "partition/units.h"

namespace tenon::partition {

/// Marks in `dependencies` the nodes whose results come from the size table on any backend.
void mark_size_table_nodes(ir::Dependencies& dependencies, std::span<const NodePlacement> nodes, const Roles& roles);

/// The cut problem of a graph whose nodes run on their preferred backends. Indices are those of units.
Problem problem_of(const ir::Graph& graph, const ir::Dependencies& dependencies, const Units& units, std::span<const NodePlacement> nodes,
                   const Roles& roles);

/// The result of solve_cut().
struct CutSolution {
  SizedCut sized;
  std::vector<uint32_t> unprofitable_units;  ///< units moved to their fallback because their segment is slower than the fallback, ascending
  uint32_t lower_bound = 0;                  ///< on the number of segments, fallback segments included
  uint64_t stopped_after_visits = 0;         ///< see Cut
};
/// How long solve_cut() searches for the fewest segments. extended: where the normal search does not end, a small graph is searched ten
/// times as long.
enum class SearchBudget : uint8_t { normal, extended };
/// Cuts the problem into segments as `constraints` require. `costs`: with assignment by cost, else null. Changes the targets of units that
/// move to their fallback. Errors: bad_usage where Segmenter::walk is requested and there are not two backends.
Result<CutSolution> solve_cut(Problem& problem, const Roles& roles, const Constraints& constraints, const Costs* costs = nullptr,
                              SearchBudget budget = SearchBudget::normal);

}  // namespace tenon::partition
