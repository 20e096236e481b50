// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "program/build.h"
#include "program/size_table.h"

namespace tenon::program {

/// Says where symbols come from: input shapes, outside, or the shapes that steps without kernels give. Returns, by array, whether its
/// memory comes with the step that makes it.
std::vector<bool> bind_sizes(const Lowered& lowered, SizeTable& sizes);
/// Adds a line for every size that the program reads, but for those that bodies read.
void want_sizes(const Lowered& lowered, SizeTable& sizes);

/// The symbol of that name, which the graph has.
Dim symbol_named(const ir::Graph& graph, std::string_view name);

/// What the runtime checks of a value that is no tensor.
runtime::ContainerInfo container_info_of(const ir::Type& type);
runtime::ContainerInfo container_info_of(const codegen::Plan& plan, const ir::Graph& graph, codegen::ArrayId array);

}  // namespace tenon::program
