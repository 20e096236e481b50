// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backend/backend.h"
#include "codegen/llvm/emit.h"
#include "runtime/code_section.h"

namespace tenon::program {

/// Compiles a segment of a kernel backend: plans and lowers it, links a program, generates code, and encodes both as a blob. The code is
/// for options.targets[backend], else for `target`. Constants become weights of the blob, and symbols that are no size of an operand its
/// sizes. The device runs it with runtime::make_program_segment. Errors: not_supported, naming the node, for one that no kernel runs.
Result<backend::Blob> compile_segment(const ir::Graph& graph, std::string_view backend, const backend::Options& options,
                                      const codegen::Target& target);

/// The code as a section of an engine or a blob.
runtime::CodeSection code_section(codegen::MachineCode code);

/// Symbols of the graph that are no dimension of any input by themselves; the program around passes their values.
std::vector<const DimNode*> outer_symbols(const ir::Graph& graph);

}  // namespace tenon::program
