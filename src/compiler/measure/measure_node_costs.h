// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compiler/measure/engine_timer.h"
#include "compiler/measure/measured_backend.h"

namespace tenon::compiler {

/// Measures each node that several backends support, alone in a graph, on each of these backends, less the time to launch a segment. One
/// result per backend of `partitioned`. A node that a backend fails to run gets a cost above that of any other. Errors: those of
/// EngineTimer::time.
Result<std::vector<KnownCosts>> measure_node_costs(const PartitionedGraph& partitioned, const CompileOptions& options, EngineTimer& timer);

/// Nanoseconds to run a segment of almost no work on each of the backends, without its copies. Errors: those of EngineTimer::time.
Result<std::vector<double>> measure_launch_ns(const backend::Backends& backends, const ir::OpTable& ops, const CompileOptions& options,
                                              EngineTimer& timer);

}  // namespace tenon::compiler
