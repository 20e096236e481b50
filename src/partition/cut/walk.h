// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/least_size.h"

namespace tenon::partition {

/// The cut of Torch-TensorRT's core: one walk in the order of the nodes with two open segments, one of either target; a node that needs the
/// other open segment ends that one first. Runs of fewer than `least` accelerated nodes go to the fallback before, until nothing changes.
/// It depends on the order of the nodes, and makes up to three times as many segments as fewest_segments(). For two targets.
/// Source: pytorch/TensorRT d7f20628, core/partitioning. Cost: linear, but for one walk more where runs are too small.
SizedCut walk(Problem& problem, uint32_t least);

}  // namespace tenon::partition
