// SPDX-License-Identifier: Apache-2.0
#include "compiler/without_plugins.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ops/core/replace_node.h"
#include "ops/plugin/plugin_op.h"

namespace tenon::compiler {

namespace {

constexpr int kMaxDefinitionDepth = 16;  ///< definitions in definitions

/// Calls what is given for each node of a plugin, that of bodies first.
template <class Visit>
Result<void> each_plugin(ir::Graph& graph, const Visit& visit) {
  std::vector<ir::NodeId> found;
  for (const ir::NodeId n : graph.nodes()) {
    for (size_t k = 0; k < graph.node(n).bodies.size(); ++k) TRY(each_plugin(graph.body(n, k), visit));
    if (ops::plugin_of(*graph.node(n).op)) found.push_back(n);
  }
  for (const ir::NodeId n : found) TRY(visit(graph, n));
  return {};
}

Result<void> check_definitions(ir::Graph& graph) {
  std::set<std::string> lacking;
  std::string place;
  TRY(each_plugin(graph, [&](ir::Graph& in, ir::NodeId n) -> Result<void> {
    const ir::Op& op = *in.node(n).op;
    if (ops::def_of(op).definition) return {};
    if (place.empty()) place = in.view(n).where();
    lacking.insert(op.domain + "::" + op.name);
    return {};
  }));
  if (lacking.empty()) return {};
  return fail(Code::not_supported, place,
              "its plugin alone defines what it computes, so that there is no fallback where the plugin is missing")
      .expected("a definition of each op of a plugin (`expression` or `define`)")
      .found(fmt::format("none of {}", fmt::join(lacking, ", ")))
      .advice("give it one, or build without --plugin-fallback");
}

}  // namespace

Result<std::unique_ptr<ir::Graph>> without_plugins(const ir::Graph& graph) {
  auto out = graph.clone();
  for (int depth = 0;; ++depth) {
    TRY(check_definitions(*out));
    size_t written = 0;
    std::string place;
    TRY(each_plugin(*out, [&](ir::Graph& in, ir::NodeId n) -> Result<void> {
      place = in.view(n).where();
      ++written;
      return ops::expand(in, n);
    }));
    if (written == 0) return out;
    if (depth == kMaxDefinitionDepth)
      return fail(Code::limit_exceeded, place, "definitions of plugins hold each other too deep")
          .expected(fmt::format("at most {}", kMaxDefinitionDepth));
  }
}

bool runs_plugins(const partition::Partition& partition, const backend::Backends& backends) {
  return std::ranges::any_of(partition.nodes, [&](const partition::NodePlacement& n) {
    return backends[n.backend]->runs_plugins() ||
           std::ranges::any_of(n.bodies, [&](const partition::Partition& body) { return runs_plugins(body, backends); });
  });
}

backend::Backends without_plugins(const backend::Backends& backends) {
  backend::Backends out = backends;
  std::erase_if(out, [](const backend::Backend* b) { return b->runs_plugins(); });
  return out;
}

}  // namespace tenon::compiler
