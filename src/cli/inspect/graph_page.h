// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "compiler/engine_contents.h"

namespace tenon::cli {

/// One page without references to anything else, that draws graphs itself (src/cli/page): they fit the window, are zoomed and moved by
/// mouse and keys, repeated layers are folded until they are clicked, a click on a node shows its details.
class GraphPage {
 public:
  explicit GraphPage(std::string title) : title_(std::move(title)) {}

  /// A short text next to the title.
  void set_facts(std::string facts) { facts_ = std::move(facts); }
  /// entry: of the engine; where there are several the page has a selector of entries.
  void add(const ir::Graph& graph, const std::string& name, const std::string& entry = "main");
  /// The compiled graph with its fused groups and kernels; its nodes are linked with those of the graph of its entry that was added
  /// before.
  void add_compiled(const ir::Graph& graph, const compiler::PlanRecord& plan, const runtime::Program& program, const std::string& name,
                    const std::string& entry = "main");
  /// Milliseconds of each step of the entry's compiled graph.
  void set_times(std::span<const double> ms_of_steps, const std::string& entry = "main");
  std::string html() const;

 private:
  /// The graphs that were added for an entry.
  struct EntryGraphs {
    std::optional<size_t> last = {};  ///< number of the graph that was added last
    std::vector<uint32_t> group_of_step = {};
  };
  size_t append(const ir::Graph& graph, const std::string& name, const std::string& entry, const compiler::GroupsOfNodes* groups);

  std::string title_, facts_;
  nlohmann::ordered_json graphs_ = nlohmann::ordered_json::array();
  std::map<std::string, EntryGraphs> entries_;
};

/// Adds the compiled graphs of all entries.
void add_entries(GraphPage& page, const compiler::Compiled& compiled);
/// Adds the graphs that an engine file contains, without groups and kernels where it has no record of them. only: an entry; empty: all.
void add_entries(GraphPage& page, const compiler::EngineContents& contents, std::string_view only = "");

}  // namespace tenon::cli
