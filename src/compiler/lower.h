// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backend/backend.h"
#include "partition/partition.h"
#include "program/build.h"

namespace tenon::compiler {

/// Lets each backend compile its segments of a graph, and of the bodies of its branches and loops. The host backend plans the
/// whole graph, with the others' segments as steps. Errors: not_supported, naming the node. `failed`: where the error is one of a backend
/// that failed to compile a segment, gets that segment; may be null.
Result<program::LoweredGraph> lower(const ir::Graph& graph, const partition::Partition& partition, const partition::Roles& roles,
                                    const backend::Options& options, partition::HandedBack* failed = nullptr);

}  // namespace tenon::compiler
