// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backend/backend.h"
#include "codegen/llvm/emit.h"
#include "runtime/code_section.h"

namespace tenon::program {

/// What a kernel backend makes of a segment of its own: plans and lowers it, links a program, generates code, and encodes both. `target`:
/// of the code; what `options` has in `targets` for `backend` counts more. Weights are those of the blob, and sizes that no operand gives.
/// The device runs it with runtime::make_program_segment. Errors: not_supported, naming the node, for one that no kernel runs.
Result<backend::Blob> compile_segment(const ir::Graph& graph, std::string_view backend, const backend::Options& options,
                                      const codegen::Target& target);

/// The code as a section of an engine or a blob.
runtime::CodeSection code_section(codegen::MachineCode code);

/// Symbols of the graph's sizes that are the whole size of no operand: where a segment computes with one, the program around passes it.
std::vector<const DimNode*> outer_symbols(const ir::Graph& graph);

}  // namespace tenon::program
