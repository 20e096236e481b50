// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/problem.h"

namespace tenon::partition {

/// For each segment whether it is kept: it is not accelerated, has a pinned node, or at least `min_size` nodes that do work.
std::vector<bool> large_enough(const Problem& problem, const Cut& cut, uint32_t min_size);

/// Moves nodes that may run later from earlier segments into small accelerated segments. Number, order and targets of segments do not
/// change, and a segment of at least `min_size` nodes keeps that many. Cost: each small segment visits the nodes that may move into it.
void fill_small_segments(const Problem& problem, Cut& cut, uint32_t min_size);

}  // namespace tenon::partition
