// SPDX-License-Identifier: Apache-2.0
#include "cli/rewrite/rule_why.h"

#include <optional>

#include <nlohmann/json.hpp>

namespace tenon::cli {
namespace {

struct Place {
  const ir::Graph* graph;
  ir::NodeId node;
};

std::optional<Place> find_node(const ir::Graph& graph, const std::string& name) {
  if (const ir::ValueId v = graph.find_value(name); v && graph.value(v).producer) return Place{&graph, graph.value(v).producer};
  for (ir::NodeId id : graph.nodes()) {
    if (graph.node(id).name == name) return Place{&graph, id};
    for (const ir::Body& body : graph.node(id).bodies)
      if (auto found = find_node(*body.graph, name)) return found;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<rewrite::Why>> why_not(const ir::Graph& graph, const rewrite::CompiledRule& rule, const std::string& node, size_t most,
                                          const rewrite::WhyOptions& options) {
  if (node.empty()) return rewrite::best_partial_matches(graph, rule, most, options);
  const auto place = find_node(graph, node);
  if (!place)
    return fail(Code::bad_usage, node, "the model has no node and no computed value of this name")
        .expected("a name that the model uses")
        .found(node)
        .advice("`tenon inspect MODEL --text` lists the names; after rewriting a node may have gone");
  return std::vector{rewrite::why(*place->graph, rule, place->node, options)};
}

nlohmann::ordered_json json_of(const rewrite::Why& w) {
  return {{"rule", w.rule},         {"node", w.node},         {"outcome", rewrite::name_of(w.outcome)},
          {"depth", w.depth},       {"parts", w.parts},       {"at", w.at},
          {"expected", w.expected}, {"found", w.found},       {"reason", w.reason},
          {"matched", w.matched},   {"would_do", w.would_do}, {"text", w.text()}};
}

}  // namespace tenon::cli
