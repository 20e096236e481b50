// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// Partitions a graph by measured costs: each node is timed alone on each backend that supports it. The engine of that partition is then
/// compared with one engine per backend, in which that backend runs all nodes that it supports, and the fastest is chosen. Nodes that
/// cannot be timed (data-dependent shapes, bodies) cost the backend's guess, scaled to the measured times. Errors: those of EngineTimer and
/// partition(). Cost: builds and runs an engine per backend and signature of a node that the timing cache lacks, and one per partition.
Result<void> partition_by_measuring(PartitionedGraph& partitioned, const CompileOptions& options);

}  // namespace tenon::compiler
