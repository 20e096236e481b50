// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "compiler/compile.h"
#include "import/onnx_import.h"
#include "ir/graph.h"

// After the inner headers, as in api/state.h.
#include "tenon/tenon.h"

namespace tenon::inline v1 {

/// The import options in the public options.
import::ImportOptions import_options(const std::filesystem::path& external_data, const std::map<std::string, std::vector<int64_t>>& shapes);
/// The same from all compile options. Metadata of modules is read only where an option names modules. Errors: bad_usage for invalid ranges.
base::Result<import::ImportOptions> import_options(const CompileOptions& options);

/// The compiler's options from the public ones. source: Error::place of errors that no node or option caused. Errors: bad_usage; a library
/// that is missing.
base::Result<compiler::CompileOptions> inner_options(const CompileOptions& options, std::string source);

/// Checks a graph that the caller built and its options, and infers its types again. Errors: bad_usage (options for model files, an input
/// without a type); those of an invalid graph.
base::Result<void> check_graph(ir::Graph& graph, const CompileOptions& options);

/// Compiles a graph, which is consumed. Errors: those of check_graph() and compile().
v1::Result<Engine> compile_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options);
/// Likewise, for the partition report (tenon/partition.h).
v1::Result<std::string> partition_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options, bool build);

}  // namespace tenon::inline v1
