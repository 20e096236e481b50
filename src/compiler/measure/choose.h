// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// Partition a graph out by what its nodes, alone, take on each backend that may run them, and holds the result against each backend
/// running all that it can: whole engines are timed, and the fastest is kept. What is not measured (sizes that follow from data, bodies) is
/// guessed, to scale. Errors: those of Timer and partition(). Cost: builds and runs an engine for each signature of a node and backend that
/// is not known yet, and one for each plan.
Result<void> partition_by_measuring(PartitionedGraph& shared, const CompileOptions& options);

}  // namespace tenon::compiler
