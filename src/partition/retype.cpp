// SPDX-License-Identifier: Apache-2.0
#include "partition/retype.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/activity.h"
#include "partition/casts.h"
#include "partition/names.h"
#include "partition/retype_search.h"

namespace tenon::partition {

namespace {

/// Nodes that are to have other types, in a graph and its bodies.
struct Changes {
  std::map<ir::NodeId, Retype> nodes;
  std::map<std::pair<ir::NodeId, size_t>, Changes> bodies;
  bool empty() const {
    return nodes.empty() && std::ranges::all_of(bodies, [](const auto& body) { return body.second.empty(); });
  }
};

class Search {
 public:
  using Path = decltype(HandedBack::inside);

  Search(const Roles& roles, const Constraints& constraints, std::span<const HandedBack> handed_back)
      : roles_(roles), handed_back_(handed_back), types_(constraints) {}

  /// Nodes that are pinned to what refuses them.
  Result<void> pinned(const ir::Graph& graph, Changes& out) {
    for (ir::NodeId n : graph.nodes()) {
      const ir::Node& node = graph.node(n);
      for (size_t b = 0; b < node.bodies.size(); ++b) TRY(pinned(*node.bodies[b].graph, out.bodies[{n, b}]));
      if (!node.placement() || node.placement()->backend.empty()) continue;
      const auto at = std::ranges::find(roles_.backends, node.placement()->backend, &backend::Backend::name);
      if (at != roles_.backends.end()) TRY(change(graph, n, **at, out));
    }
    return {};
  }

  /// Nodes that are free, and that backends refuse which come before the one that they go to.
  Result<void> refused(const ir::Graph& graph, const Partition& partition, Changes& out, const Path& path = {}) {
    for (const NodePlacement& share : partition.nodes) {
      for (size_t b = 0; b < share.bodies.size(); ++b) {
        Path inner = path;
        inner.emplace_back(share.node, b);
        TRY(refused(*graph.node(share.node).bodies[b].graph, share.bodies[b], out.bodies[{share.node, b}], inner));
      }
      if (graph.node(share.node).placement() || graph.node(share.node).retyping()) continue;
      for (uint16_t b = 0; b < roles_.fallback() && is_refused(share, b); ++b)
        if (!was_handed_back(path, share.node, *roles_.backends[b]) && TRY(change(graph, share.node, *roles_.backends[b], out))) break;
    }
    return {};
  }

  /// Takes out what did not help: nodes that ended on a backend which runs them as they were.
  Result<void> take_back(const ir::Graph& before, const Partition& partition, Changes& changes, bool& any) {
    std::set<ir::NodeId> here;
    std::set<std::pair<ir::NodeId, size_t>> shared_inside;
    for (const NodePlacement& share : partition.nodes) {
      for (size_t b = 0; b < share.bodies.size(); ++b) {
        shared_inside.emplace(share.node, b);
        TRY(take_back(*before.node(share.node).bodies[b].graph, share.bodies[b], changes.bodies[{share.node, b}], any));
      }
      const auto change = changes.nodes.find(share.node);
      if (change == changes.nodes.end()) continue;
      const backend::Backend& runs = *roles_.backends[share.backend];
      if (runs.name() == change->second.backend || !TRY(supports(before, share.node, runs))) here.insert(share.node);
    }
    any |= std::erase_if(changes.nodes, [&](const auto& c) { return !here.contains(c.first); }) > 0;
    any |= std::erase_if(changes.bodies, [&](const auto& c) { return !c.second.empty() && !shared_inside.contains(c.first); }) > 0;
    return {};
  }

 private:
  /// With all choices known whoever is none of them; else whoever comes before the first that takes it.
  static bool is_refused(const NodePlacement& share, uint16_t backend) {
    return share.choices.empty() ? backend < share.wanted : std::ranges::find(share.choices, backend) == share.choices.end();
  }

  bool was_handed_back(const Path& path, ir::NodeId node, const backend::Backend& backend) const {
    return std::ranges::any_of(handed_back_, [&](const HandedBack& h) {
      return h.backend == backend.name() && h.inside == path && std::ranges::find(h.nodes, node) != h.nodes.end();
    });
  }

  static Result<bool> supports(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend) {
    const Activity activity(backend.name(), "was called for `supports` of a node");
    const auto supported = backend.supports(graph, node);
    if (!supported && supported.error().code() != Code::not_supported) return std::unexpected(supported.error());
    return supported.has_value();
  }

  Result<bool> change(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend, Changes& out) {
    auto found = TRY(types_.find(graph, node, backend));
    if (found) out.nodes.insert_or_assign(node, std::move(*found));
    return found.has_value();
  }

  const Roles& roles_;
  std::span<const HandedBack> handed_back_;
  RetypeSearch types_;
};

void apply(ir::Graph& graph, const Changes& changes) {
  for (const auto& [at, inner] : changes.bodies)
    if (!inner.empty()) apply(graph.body(at.first, at.second), inner);
  if (changes.nodes.empty()) return;
  std::map<ir::NodeId, std::string> names;
  for (auto& [node, name] : names_of_nodes(graph)) names.emplace(node, std::move(name));
  Casts casts(graph, std::move(names));
  std::vector<ir::NodeId> order;
  for (ir::NodeId n : graph.nodes())
    if (changes.nodes.contains(n)) order.push_back(n);
  for (ir::NodeId n : order) casts.around(n, changes.nodes.at(n));
  casts.finish();
}

/// partition(), where more than was said may still be accelerated.
Result<Partition> first_shares(const ir::Graph& graph, const Roles& roles, Constraints constraints,
                               std::span<const HandedBack> handed_back) {
  constraints.require_full = false;
  return partition(graph, roles, constraints, handed_back);
}

}  // namespace

Result<Partition> partition_with_casts(std::unique_ptr<ir::Graph>& graph, const Roles& roles, const Constraints& constraints,
                                       std::span<const HandedBack> handed_back, std::unique_ptr<ir::Graph>* as_it_was) {
  Search search(roles, constraints, handed_back);
  Changes changes;
  TRY(search.pinned(*graph, changes));
  const bool pins = !changes.empty();
  std::unique_ptr<ir::Graph> before;
  if (pins) {
    before = graph->clone();
    apply(*graph, changes);
  }
  Partition partition = TRY(first_shares(*graph, roles, constraints, handed_back));
  TRY(search.refused(*graph, partition, changes));
  if (!before && !changes.empty()) before = graph->clone();
  while (!changes.empty()) {
    graph = before->clone();
    apply(*graph, changes);
    partition = TRY(first_shares(*graph, roles, constraints, handed_back));
    bool any = false;
    TRY(search.take_back(*before, partition, changes, any));
    if (!any) break;
    if (changes.empty()) {
      graph = std::move(before);
      partition = TRY(first_shares(*graph, roles, constraints, handed_back));
    }
  }
  if (as_it_was) *as_it_was = std::move(before);
  return constraints.require_full ? partition::partition(*graph, roles, constraints, handed_back) : Result<Partition>(std::move(partition));
}

}  // namespace tenon::partition
