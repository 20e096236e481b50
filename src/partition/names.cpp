// SPDX-License-Identifier: Apache-2.0
#include "partition/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace tenon::partition {

std::vector<std::pair<ir::NodeId, std::string>> names_of_nodes(const ir::Graph& graph) {
  std::vector<std::pair<ir::NodeId, std::string>> out;
  std::unordered_map<std::string_view, size_t> times;
  out.reserve(graph.node_count());
  times.reserve(graph.node_count());
  for (ir::NodeId n : graph.nodes()) ++times[graph.node(n).name];
  std::unordered_set<std::string> by_place;
  const auto name_by_place = [&](ir::NodeId n, size_t place) {
    return *by_place.insert(fmt::format("{}_{}", graph.node(n).op->name, place)).first;
  };
  std::vector<size_t> places;  // positions without Casts that partitioning inserted, so that `Op_N` of other nodes does not change
  size_t place = 0;
  for (ir::NodeId n : graph.nodes()) {
    const ir::Node& node = graph.node(n);
    const bool is_put_there = node.retyping() && node.retyping()->is_inserted_cast();
    places.push_back(is_put_there ? graph.node_count() + out.size() : place++);
    const bool own = !node.name.empty() && times[node.name] == 1;
    out.emplace_back(n, own ? node.name : name_by_place(n, places.back()));
  }
  // A name of one's own may be what another is called by its place.
  for (bool again = !by_place.empty(); again;) {
    again = false;
    for (size_t k = 0; k < out.size(); ++k)
      if (auto& [n, name] = out[k]; name == graph.node(n).name && by_place.contains(name)) {
        name = name_by_place(n, places[k]);
        again |= name != graph.node(n).name;
      }
  }
  return out;
}

Names::Names(const ir::Graph& graph, const Partition& partition) : graph_(graph) {
  for (const NodePlacement& n : partition.nodes) nodes_.emplace(n.node, n.name);
}

std::string Names::value(ir::ValueId value) const {
  const ir::Value& v = graph_.value(value);
  if (!v.name.empty() || !v.producer) return v.name;
  const auto& outputs = graph_.node(v.producer).outputs;
  if (outputs.size() == 1) return std::string(node(v.producer));
  return fmt::format("{}:{}", node(v.producer), std::ranges::find(outputs, value) - outputs.begin());
}

}  // namespace tenon::partition
