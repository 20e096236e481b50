// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compiler/measure/measured_backend.h"
#include "compiler/measure/timer.h"

namespace tenon::compiler {

/// What the nodes of a graph that have a choice take, alone, on each backend of their choice, but for what it takes to start a segment.
/// One a backend of `shared`. A node that a backend fails to run costs it more than any other. Errors: those of Timer::time.
Result<std::vector<KnownCosts>> node_times(const PartitionedGraph& shared, const CompileOptions& options, Timer& timer);

/// What it takes to run a segment of almost no work on each of the backends, in nanoseconds, its copies aside. Errors: those of
/// Timer::time.
Result<std::vector<double>> launch_times(const backend::Backends& backends, const ir::OpTable& ops, const CompileOptions& options,
                                         Timer& timer);

}  // namespace tenon::compiler
