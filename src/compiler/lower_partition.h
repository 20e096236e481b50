// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compiler/compile.h"
#include "partition/partition.h"
#include "program/build.h"

namespace tenon::compiler {

/// What the backends make of a graph that is partitioned. A backend that fails to compile a segment hands it back, and the graph is
/// partitioned again: `handed_back` grows. Points into `shared`. Errors: those of compile().
Result<program::LoweredGraph> lower_partition(PartitionedGraph& shared, const CompileOptions& options, const codegen::Target& target,
                                              std::vector<partition::HandedBack>& handed_back);

}  // namespace tenon::compiler
