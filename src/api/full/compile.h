// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "compiler/compile.h"
#include "import/onnx_import.h"
#include "ir/graph.h"

// After the inner headers, as in api/state.h.
#include "tenon/tenon.h"

namespace tenon::inline v1 {

/// What the public options say of reading a model.
import::ImportOptions import_options(const std::filesystem::path& external_data, const std::map<std::string, std::vector<int64_t>>& shapes);
/// Modules are read where somebody speaks of them. Errors: bad_usage for ranges that are none.
base::Result<import::ImportOptions> import_options(const CompileOptions& options);

/// The compile options among them. `source`: the place of errors without a nearer one. Errors: bad_usage; a library that is missing.
base::Result<compiler::CompileOptions> inner_options(const CompileOptions& options, std::string source);

/// A graph whose options are those of graphs, its types inferred again. Errors: bad_usage (options of models, an input without
/// a type); what is wrong with the graph.
base::Result<void> check_graph(ir::Graph& graph, const CompileOptions& options);

/// Compiles a graph, which is consumed. Errors: those of check_graph() and compile().
v1::Result<Engine> compile_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options);
/// Likewise, for the partition report (tenon/partition.h).
v1::Result<std::string> partition_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options, bool build);

}  // namespace tenon::inline v1
