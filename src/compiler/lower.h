// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backend/backend.h"
#include "partition/partition.h"
#include "program/build.h"

namespace tenon::compiler {

/// Compiles a partitioned graph and the bodies of its branches and loops: each backend compiles its segments, and the host backend plans
/// the whole graph with these segments as steps. Errors: not_supported, naming the node. `failed` (may be null): set to the segment where a
/// backend failed to compile it.
Result<program::LoweredGraph> lower(const ir::Graph& graph, const partition::Partition& partition, const partition::Roles& roles,
                                    const backend::Options& options, partition::FailedSegment* failed = nullptr);

}  // namespace tenon::compiler
