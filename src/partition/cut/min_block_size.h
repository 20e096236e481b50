// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/fewest.h"

namespace tenon::partition {

/// A cut whose accelerated segments have a minimum size.
struct SizedCut {
  Cut cut;
  std::vector<uint32_t> dropped;  ///< nodes moved to the fallback, ascending
};

/// The cut with the fewest segments (fewest_segments) in which each accelerated one has at least `min_size` nodes that do work, or a
/// pinned node. A small segment is filled with nodes of earlier segments (fill_small_segments); else the smallest segment moves to the
/// fallback, and the problem is cut again. Changes the problem's targets of dropped nodes. Cost: a cut per dropped segment; where there are
/// many small segments, a sixteenth of them is dropped at once.
SizedCut cut_of_size(Problem& problem, uint32_t min_size, uint64_t budget = kSearchBudget);

}  // namespace tenon::partition
