// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "program/build.h"
#include "program/size_table.h"

namespace tenon::program {

/// Binds each symbol of the plan to its origin: an input shape, a state, the program around, or a result of a step without a kernel.
/// Returns for each array whether the step that computes it also allocates its memory, since its size is unknown before.
std::vector<bool> bind_sizes(const LoweredGraph& lowered, SizeTable& sizes);
/// Requests a line for every size that the program reads, but for those that bodies of its branches and loops read.
void request_sizes(const LoweredGraph& lowered, SizeTable& sizes);

/// The symbol of that name. The graph must have one.
Dim symbol_named(const ir::Graph& graph, std::string_view name);

/// The kind and shape of a value as the runtime checks it where the value is no tensor (a sequence, a map, an optional).
runtime::ContainerInfo container_info_of(const ir::Type& type);
runtime::ContainerInfo container_info_of(const codegen::Plan& plan, const ir::Graph& graph, codegen::ArrayId array);

}  // namespace tenon::program
