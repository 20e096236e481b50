// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/fewest.h"

namespace tenon::partition {

/// A cut whose accelerated segments do enough to be worth it.
struct SizedCut {
  Cut cut;
  std::vector<uint32_t> dropped;  ///< nodes that fell back for it, ascending
};

/// The fewest segments (partition::fewest) where each accelerated one has at least `least` nodes that count, or a pinned one. A small
/// segment is filled from those before it with nodes that may wait, where these stay large enough; else the smallest is given to the
/// fallback, and the rest is cut again. The problem's targets are changed for nodes that are dropped. Cost: a cut for each drop; where
/// there are many small segments, a sixteenth of them is dropped at once.
SizedCut cut_of_size(Problem& problem, uint32_t least, uint64_t budget = kSearchBudget);

}  // namespace tenon::partition
