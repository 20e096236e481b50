// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "ir/text.h"
#include "ir/verify.h"
#include "ops/core/op.h"
#include "rewrite/driver/driver.h"

namespace tenon::tests {

inline std::unique_ptr<ir::Graph> graph_of(std::string_view text) {
  auto graph = ir::parse(text, ops::table());
  if (!graph) ADD_FAILURE() << graph.error().text();
  return graph ? std::move(*graph) : std::make_unique<ir::Graph>(ops::table());
}

/// Runs the rules and checks that the graph keeps its invariants.
inline rewrite::Statistics run(ir::Graph& graph, std::initializer_list<const rewrite::Rule*> rules, const rewrite::Options& options = {}) {
  auto set = rewrite::RuleSet::make(std::vector<const rewrite::Rule*>(rules), ops::table());
  if (!set) ADD_FAILURE() << set.error().text();
  auto stats = rewrite::rewrite(graph, *set, options);
  if (!stats) ADD_FAILURE() << stats.error().text();
  auto ok = ir::verify(graph);
  if (!ok) ADD_FAILURE() << ok.error().text();
  return stats ? *stats : rewrite::Statistics();
}

inline std::string ops_of(const ir::Graph& graph) {
  std::string out;
  for (ir::NodeId n : graph.nodes()) out += (out.empty() ? "" : " ") + graph.node(n).op->name;
  return out;
}

}  // namespace tenon::tests
