// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/chains.h"

namespace tenon::partition {

/// Searches the cut with the fewest segments, best first, with at most `budget` visits of nodes and edges. Returns `found` where there is
/// none with fewer, or the budget ends; its lower bound is the highest that the search reached. Sources: A* (Hart, Nilsson, Raphael 1968).
Cut search(const Problem& problem, const Chains& chains, Cut found, uint64_t budget);

}  // namespace tenon::partition
