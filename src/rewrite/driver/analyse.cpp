// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/analyse.h"

#include <exception>

#include "rewrite/match.h"

namespace tenon::rewrite {
namespace {

/// True where the rule matched.
Result<bool> query(const CompiledRule& rule, const ir::Graph& graph, NodeId node, const std::any* args) {
  try {
    Match match(graph, node, args);
    const bool found = rule.equation ? rule.equation->match(match) : !rule.match || rule.match(match);
    if (found) rule.analyse(match);
    return found;
  } catch (const std::exception& e) {
    return fail(Code::bad_rule, graph.view(node).where(), "rule " + rule.name + " threw while analysing: " + e.what());
  }
}

}  // namespace

Result<int64_t> analyse(const ir::Graph& graph, const RuleSet& rules, const std::any* args) {
  int64_t count = 0;
  std::vector<uint32_t> candidates;
  for (NodeId node : graph.nodes()) {
    for (const ir::Body& body : graph.node(node).bodies) count += TRY(analyse(*body.graph, rules, args));
    rules.candidates(graph, node, candidates);
    for (uint32_t index : candidates)
      if (rules[index].analyse && TRY(query(rules[index], graph, node, args))) ++count;
  }
  return count;
}

}  // namespace tenon::rewrite
