// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compiler/compile.h"
#include "partition/partition.h"
#include "program/build.h"

namespace tenon::compiler {

/// Lowers a partitioned graph. Where a backend fails to compile a segment, adds it to `failed_segments` and partitions the graph again.
/// The result points into `partitioned`. Errors: those of compile().
Result<program::LoweredGraph> lower_partition(PartitionedGraph& partitioned, const CompileOptions& options, const codegen::Target& target,
                                              std::vector<partition::FailedSegment>& failed_segments);

}  // namespace tenon::compiler
