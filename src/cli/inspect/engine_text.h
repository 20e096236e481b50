// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "import/onnx_import.h"
#include "runtime/program.h"

namespace tenon::cli {

class Console;

/// What is printed of an engine.
struct EngineText {
  std::vector<import::RequestedShape> shapes = {};  ///< for which the memory plan is printed (see compiler::default_shapes)
  bool text = false;                                ///< also its steps and its graphs
  std::string entry = {};  ///< whose ports, steps, memory plan and graph are printed; empty: the ports, steps and graphs of all, the memory
                           ///< plan of the first
};
/// Prints the contents of an engine file: manifest, sections, inputs and outputs, kernels, memory. Nothing is run or compiled. Errors:
/// bad_usage for an entry that there is not.
Result<void> inspect_engine(const std::string& path, const EngineText& options, Console& console);

/// What a step runs: "kernel 3", "on reference", "loop".
std::string runs_text(const runtime::Program& program, const runtime::Step& step);

}  // namespace tenon::cli
