// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "partition/assign/costs.h"
#include "partition/cut/problem.h"

namespace tenon::partition {

/// The units that are given up where that saves most: those of one segment of the cut, or of all; none: all segments pay for their start
/// and their borders, each and together. Borders cost what the run will copy: a segment on a memory of its own is brought each operand,
/// whoever else there has it, and each result leaves that memory once. Segments with units that cannot move are kept. Cost: linear.
std::vector<uint32_t> unprofitable_units(const Costs& costs, const Problem& problem, const Cut& cut);

/// What a run of the cut takes: nodes, starts, and borders as above.
double predicted_ns(const Costs& costs, const Problem& problem, const Cut& cut);

}  // namespace tenon::partition
