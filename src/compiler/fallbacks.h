// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/build_partitioned.h"
#include "compiler/compile.h"

namespace tenon::compiler {

/// Adds the graphs of all fallbacks of the engine, in the order of their conditions: those of `source`, one with definitions in place of
/// plugins where `options` include it, and one in which defaults can be overridden. Defaults of the other graphs become constants. Errors:
/// not_supported for an op of a plugin without a definition.
Result<void> add_fallback_graphs(Source& source, const CompileOptions& options);

/// Rewrites and partitions the fallbacks of an entry, for the fallback backend. A fallback for overridden defaults that cannot be compiled
/// is left out with a warning. Errors: those of compile().
Result<std::vector<PartitionedFallback>> partition_fallbacks(std::vector<FallbackGraph> graphs, const PartitionedGraph& entry,
                                                             const CompileOptions& options, std::vector<std::string>& warnings);

}  // namespace tenon::compiler
