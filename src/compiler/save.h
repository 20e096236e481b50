// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "compiler/compile.h"

namespace tenon::compiler {

/// Writes the engine file: streamed, atomically, equal bytes for equal input. Weights are materialised one at a time.
/// options.portable: the graph and its weights alone; compiler::load compiles it. Errors: write_failed, out_of_memory.
Result<void> save(const Compiled& compiled, const CompileOptions& options, const std::filesystem::path& path);

}  // namespace tenon::compiler
