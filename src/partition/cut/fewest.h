// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/problem.h"

namespace tenon::partition {

inline constexpr uint64_t kSearchBudget = 30'000'000;  ///< visits of nodes and edges: less than 0.1 s

/// The cut with the fewest segments, the same for any order of the nodes.
///
/// A segment has all nodes of its target that are ready or become ready: fewer is never better. So two targets that alternate
/// give the fewest, whichever of the two starts gives fewer (levels of typed fusion: Kennedy and McKinley 1994). For more targets, where
/// the fewest is NP-hard (Darte, PACT'99), a best-first search over sets of nodes that have run, bounded below by the changes of target
/// along any path; where it exceeds `budget` visits of nodes and edges, a greedy cut, in which each segment leaves the lowest bound. Cost:
/// linear for two targets and for the greedy cut; at most `budget` for the search.
Cut fewest_segments(const Problem& problem, uint64_t budget = kSearchBudget);

}  // namespace tenon::partition
