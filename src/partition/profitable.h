// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "partition/assign/costs.h"
#include "partition/cut/problem.h"

namespace tenon::partition {

/// The units of the segment, or of all segments together, whose move to the fallback saves most time; empty where every segment is faster
/// than the fallback, its launch and copies included. Copies are those of a run: each operand is copied to a segment with a memory of its
/// own, even where another segment of that backend has it, and each result is copied out once. Segments with fixed units are kept. Cost:
/// linear.
std::vector<uint32_t> unprofitable_units(const Costs& costs, const Problem& problem, const Cut& cut);

/// Nanoseconds of a run of the cut: nodes, launches, and copies as above.
double predicted_ns(const Costs& costs, const Problem& problem, const Cut& cut);

}  // namespace tenon::partition
