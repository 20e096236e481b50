// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/problem.h"

namespace tenon::partition {

inline constexpr uint64_t kSearchBudget = 30'000'000;  ///< some hundredths of a second

/// The cut with the fewest segments, the same for any order of the nodes.
///
/// A segment takes all of its target that is ready, and what that makes ready: to take less is never better. So two targets that alternate
/// give the fewest, whichever of the two starts gives fewer (levels of typed fusion: Kennedy and McKinley 1994). For more targets, where
/// the fewest is NP-hard (Darte, PACT'99), a best-first search over what has run, bounded below by the changes of target along any path;
/// where that takes more than `budget` visits of nodes and edges, each segment is the one that leaves the lowest bound.
/// Cost: linear for two targets and for looking ahead; at most `budget` for the search.
Cut fewest_segments(const Problem& problem, uint64_t budget = kSearchBudget);

}  // namespace tenon::partition
