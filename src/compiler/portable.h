// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/compile.h"
#include "engine/reader.h"
#include "engine/writer.h"
#include "ir/text.h"

namespace tenon::compiler {

/// The tag of the section with the text of an entry's graph, or, with a condition, of its fallback's graph. Native engines have no sections
/// for fallbacks.
uint32_t tag_of_graph(size_t entry, runtime::Condition condition = runtime::Condition::none);

/// Adds the sections of an engine without native code: the graph's text (constants over 64 elements as @k), the weights section with their
/// bytes, and an index with the offset and type of each. Fallbacks and further entries have texts of their own, and their constants
/// continue the numbering; equal constants are stored once. Names of entries are in the manifest. `compiled` must outlive the writer.
/// Errors: not_supported for large string constants.
Result<void> add_graphs(engine::Writer& writer, const Compiled& compiled);

/// Names of the entries of such an engine, from its manifest. Errors: bad_file (two of one name, or one without).
Result<std::vector<std::string>> entry_names(std::span<const std::byte> manifest, const std::string& place);

/// The graphs of such an engine, their constants slices of the file. names: of its entries. plugin_free: those with definitions in place of
/// plugins, where an entry has one. The file may be damaged or hostile: everything is checked. Errors: bad_file, bad_graph with line and
/// column.
Result<std::vector<EntrySource>> read_graphs(const engine::Reader& reader, std::span<const std::string> names, const ir::OpTable& ops,
                                             std::string_view place, bool plugin_free);
/// Whether any of the `entries` entries of the engine has a graph with definitions in place of plugins.
bool has_plugin_free_graph(const engine::Reader& reader, size_t entries);

/// Parses the text of a graph that may be damaged or hostile: result types are inferred again. big: see ir::parse.
/// Errors: bad_graph with line and column; those of inference.
Result<std::unique_ptr<ir::Graph>> parse_untrusted_graph(std::string_view text, const ir::OpTable& ops,
                                                         const ir::TextConstants* big = nullptr);

}  // namespace tenon::compiler
