// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/chains.h"

namespace tenon::partition {

/// The fewest segments by a best-first search that visits at most `budget` nodes and edges, or `found` where it gets no further; with the
/// highest lower bound that it came to. Sources: A* (Hart, Nilsson, Raphael 1968).
Cut search(const Problem& problem, const Chains& chains, Cut found, uint64_t budget);

}  // namespace tenon::partition
