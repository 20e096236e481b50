// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// What compile() does with one graph before backends compile its segments: checks it, chooses backends, binds constraints to nodes,
/// rewrites, partitions, and measures where that is asked for. The graph is consumed. Errors: those of compile().
Result<PartitionedGraph> rewrite_and_partition(std::unique_ptr<ir::Graph> graph, const CompileOptions& options);

}  // namespace tenon::compiler
