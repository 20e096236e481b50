// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/build_partitioned.h"
#include "compiler/compile.h"

namespace tenon::compiler {

/// Adds the graphs of all fallbacks that the engine is to have, in the order of their conditions: what `source` has, definitions in place
/// of plugins where `options` include them, inputs for defaults. Defaults of the other graphs become constants. Errors: not_supported for
/// an op of a plugin without a definition.
Result<void> add_fallback_graphs(Source& source, const CompileOptions& options);

/// Rewrites and partitions the fallbacks of an entry, for the fallback backend. One for overridden defaults that cannot be compiled is left
/// out: a warning says why. Errors: those of compile().
Result<std::vector<PartitionedFallback>> partition_fallbacks(std::vector<FallbackGraph> graphs, const PartitionedGraph& entry,
                                                             const CompileOptions& options, std::vector<std::string>& warnings);

}  // namespace tenon::compiler
