// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// Settles by measuring how each node is run that a plugin may run: by which of the plugin's tactics and layouts, or by Tenon's own code.
/// Nodes that are alike are measured once, alone, at the sizes that runs take where nobody says any. Before fused ops are written out:
/// the plugin backend uses what is settled from then on, and shared.measured has it.
/// Errors: those of the plugins; not_supported for functions of this process; those of Timer and Stopwatch.
Result<void> choose_plugin_ways(PartitionedGraph& shared, const CompileOptions& options);

}  // namespace tenon::compiler
