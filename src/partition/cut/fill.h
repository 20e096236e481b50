// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/problem.h"

namespace tenon::partition {

/// For each segment whether it is kept: it is not accelerated, has a pinned node, or at least `least` nodes that count.
std::vector<bool> large_enough(const Problem& problem, const Cut& cut, uint32_t least);

/// Moves nodes that may run later into small accelerated segments, from those before that can spare them. Segments stay as they are in
/// number, order and target, and a large one stays large. Cost: each small segment visits the nodes within its reach.
void fill(const Problem& problem, Cut& cut, uint32_t least);

}  // namespace tenon::partition
