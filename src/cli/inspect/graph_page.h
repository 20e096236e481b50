// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "compiler/plan_record.h"

namespace tenon::cli {

/// One page without references to anything else, that draws graphs itself (src/cli/page): they fit the window, are zoomed and moved by
/// mouse and keys, repeated layers are folded until they are clicked, a click on a node shows its details.
class GraphPage {
 public:
  explicit GraphPage(std::string title) : title_(std::move(title)) {}

  /// A few words next to the title.
  void set_facts(std::string facts) { facts_ = std::move(facts); }
  void add(const ir::Graph& graph, const std::string& name) { append_graph(graph, name); }
  /// The compiled graph with its fused groups and kernels; its nodes and those of the last graph that was added point at each other.
  void add_compiled(const ir::Graph& graph, const compiler::PlanRecord& plan, const runtime::Program& program, const std::string& name);
  /// Milliseconds of each step of the compiled graph that was added last.
  void set_times(std::span<const double> ms_of_steps);
  std::string html() const;

 private:
  size_t append_graph(const ir::Graph& graph, const std::string& name);

  std::string title_, facts_;
  nlohmann::ordered_json graphs_ = nlohmann::ordered_json::array();
  size_t last_ = 0;  ///< number of the graph that was added last, its bodies come after it
  std::vector<uint32_t> group_of_step_;
};

}  // namespace tenon::cli
