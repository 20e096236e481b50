// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "import/onnx_import.h"
#include "runtime/program.h"

namespace tenon::cli {

class Console;

/// What an engine file holds: manifest, sections, inputs and outputs, kernels, memory; with `text` also its steps and its graph.
/// shapes: those for which the memory plan is printed (see compiler::default_shapes). Nothing is run or compiled.
Result<void> inspect_engine(const std::string& path, const std::vector<import::RequestedShape>& shapes, bool text, Console& console);

/// What a step runs: "kernel 3", "on reference", "loop".
std::string runs_text(const runtime::Program& program, const runtime::Step& step);

}  // namespace tenon::cli
