// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/min_block_size.h"

namespace tenon::partition {

/// The cut of Torch-TensorRT's core, for two targets: one walk in the order of the nodes with two open segments, one per target; a node
/// that depends on the other open segment closes that one first. Runs of fewer than `min_size` accelerated nodes move to the fallback
/// before, until nothing changes. The result depends on the order of the nodes, and has up to three times the segments of
/// fewest_segments(). Source: pytorch/TensorRT d7f20628, core/partitioning. Cost: linear, but for one walk more where runs are too small.
SizedCut walk(Problem& problem, uint32_t min_size);

}  // namespace tenon::partition
