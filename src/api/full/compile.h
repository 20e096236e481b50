// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "import/onnx_import.h"
#include "ir/graph.h"

// After the inner headers, as in api/state.h.
#include "tenon/tenon.h"

namespace tenon::inline v1 {

/// What the public options say of reading a model.
import::ImportOptions import_options(const std::filesystem::path& external_data, const std::map<std::string, std::vector<int64_t>>& shapes);

/// Compiles a graph, which is consumed. Types of its results are inferred again.
/// Errors: bad_usage (options of models beside it, an input without a type); what is wrong with the graph; those of compile().
v1::Result<Engine> compile_graph(std::unique_ptr<ir::Graph> graph, const CompileOptions& options);

}  // namespace tenon::inline v1
