// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "engine/reader.h"
#include "engine/writer.h"
#include "ir/graph.h"

namespace tenon::compiler {

/// Adds the sections of an engine without native code: the graph's text (constants over 64 elements as @k), the weights section with
/// their bytes, and an index that says where and of what type each is. `graph` must outlive the writer.
/// Errors: not_supported for large string constants.
Result<void> add_graph(engine::Writer& writer, const ir::Graph& graph);

/// The graph of such an engine, its constants slices of the file. Nothing in the file is trusted.
/// Errors: bad_file, bad_graph with line and column.
Result<std::unique_ptr<ir::Graph>> read_graph(const engine::Reader& reader, const ir::OpTable& ops, std::string_view place);

}  // namespace tenon::compiler
