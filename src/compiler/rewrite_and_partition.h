// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// Checks a graph, chooses its backends, binds constraints to its nodes and rewrites it. The graph is consumed. Errors: those of compile().
Result<PartitionedGraph> rewrite_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options);
/// Partitions the result of rewrite_graph(). Errors: those of compile().
Result<void> partition_rewritten(PartitionedGraph& graph, const CompileOptions& options);
/// Rewrites and partitions, without measuring costs: for fallbacks and graphs of plugins, which run on the fallback backend. Errors: those
/// of compile().
Result<PartitionedGraph> rewrite_and_partition(std::unique_ptr<ir::Graph> graph, const CompileOptions& options);

}  // namespace tenon::compiler
