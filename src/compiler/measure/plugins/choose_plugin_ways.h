// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/compile.h"

namespace tenon::compiler {

/// Chooses by measuring the implementation of each node that a plugin supports: one of the plugin's tactics and layouts, or Tenon's own
/// code. Equal nodes are measured once, alone, at default sizes. Runs before fused ops are expanded: the plugin backend in `partitioned`
/// then uses the choices, and partitioned.measured lists them. Errors: those of the plugins; not_supported for functions of this process;
/// those of EngineTimer and EngineRunner.
Result<void> choose_plugin_ways(PartitionedGraph& partitioned, const CompileOptions& options);

}  // namespace tenon::compiler
