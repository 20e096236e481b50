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

/// The nodes that get other types, in a graph and its bodies.
struct Changes {
  std::map<ir::NodeId, Retype> nodes;
  std::map<std::pair<ir::NodeId, size_t>, Changes> bodies;
  bool empty() const {
    return nodes.empty() && std::ranges::all_of(bodies, [](const auto& body) { return body.second.empty(); });
  }
};

/// Finds the nodes that run on another backend with other types.
class RetypedNodes {
 public:
  using Path = decltype(FailedSegment::body_path);

  RetypedNodes(const Roles& roles, const Constraints& constraints, std::span<const FailedSegment> failed_segments)
      : roles_(roles), failed_segments_(failed_segments), types_(constraints) {}

  /// Adds the nodes that are pinned to a backend which refuses them.
  Result<void> add_pinned(const ir::Graph& graph, Changes& out) {
    for (ir::NodeId n : graph.nodes()) {
      const ir::Node& node = graph.node(n);
      for (size_t b = 0; b < node.bodies.size(); ++b) TRY(add_pinned(*node.bodies[b].graph, out.bodies[{n, b}]));
      if (!node.placement() || node.placement()->backend.empty()) continue;
      const auto at = std::ranges::find(roles_.backends, node.placement()->backend, &backend::Backend::name);
      if (at != roles_.backends.end()) TRY(change(graph, n, **at, out));
    }
    return {};
  }

  /// Adds the nodes without constraints that a backend of higher priority than their own refuses.
  Result<void> add_refused(const ir::Graph& graph, const Partition& partition, Changes& out, const Path& path = {}) {
    for (const NodePlacement& placement : partition.nodes) {
      for (size_t b = 0; b < placement.bodies.size(); ++b) {
        Path inner = path;
        inner.emplace_back(placement.node, b);
        TRY(add_refused(*graph.node(placement.node).bodies[b].graph, placement.bodies[b], out.bodies[{placement.node, b}], inner));
      }
      if (graph.node(placement.node).placement() || graph.node(placement.node).retyping()) continue;
      for (uint16_t b = 0; b < roles_.fallback() && is_refused(placement, b); ++b)
        if (!is_failed(path, placement.node, *roles_.backends[b]) && TRY(change(graph, placement.node, *roles_.backends[b], out))) break;
    }
    return {};
  }

  /// Removes changes without effect: of nodes that were placed on a backend which runs them in their original types.
  Result<void> drop_unused(const ir::Graph& before, const Partition& partition, Changes& changes, bool& any) {
    std::set<ir::NodeId> used;
    std::set<std::pair<ir::NodeId, size_t>> bodies_with_partitions;
    for (const NodePlacement& placement : partition.nodes) {
      for (size_t b = 0; b < placement.bodies.size(); ++b) {
        bodies_with_partitions.emplace(placement.node, b);
        TRY(drop_unused(*before.node(placement.node).bodies[b].graph, placement.bodies[b], changes.bodies[{placement.node, b}], any));
      }
      const auto change = changes.nodes.find(placement.node);
      if (change == changes.nodes.end()) continue;
      const backend::Backend& assigned = *roles_.backends[placement.backend];
      if (assigned.name() == change->second.backend || !TRY(supports(before, placement.node, assigned))) used.insert(placement.node);
    }
    any |= std::erase_if(changes.nodes, [&](const auto& c) { return !used.contains(c.first); }) > 0;
    any |= std::erase_if(changes.bodies, [&](const auto& c) { return !c.second.empty() && !bodies_with_partitions.contains(c.first); }) > 0;
    return {};
  }

 private:
  /// Whether `backend` refuses the node: it is not among the candidates or, where these are unknown, has a higher priority than the
  /// preferred backend.
  static bool is_refused(const NodePlacement& placement, uint16_t backend) {
    return placement.choices.empty() ? backend < placement.preferred_backend
                                     : std::ranges::find(placement.choices, backend) == placement.choices.end();
  }

  bool is_failed(const Path& path, ir::NodeId node, const backend::Backend& backend) const {
    return std::ranges::any_of(failed_segments_, [&](const FailedSegment& failed) {
      return failed.backend == backend.name() && failed.body_path == path && std::ranges::find(failed.nodes, node) != failed.nodes.end();
    });
  }

  static Result<bool> supports(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend) {
    const Activity activity(backend.name(), "was called for `supports` of a node");
    const auto supported = backend.supports(graph, node);
    if (!supported && supported.error().code() != Code::not_supported) return std::unexpected(supported.error());
    return supported.has_value();
  }

  /// Adds other types with which the backend runs the node. False: there are none.
  Result<bool> change(const ir::Graph& graph, ir::NodeId node, const backend::Backend& backend, Changes& out) {
    auto found = TRY(types_.find(graph, node, backend));
    if (found) out.nodes.insert_or_assign(node, std::move(*found));
    return found.has_value();
  }

  const Roles& roles_;
  std::span<const FailedSegment> failed_segments_;
  RetypeSearch types_;
};

/// Changes the types of the nodes and inserts the Casts.
void apply(ir::Graph& graph, const Changes& changes) {
  for (const auto& [at, inner] : changes.bodies)
    if (!inner.empty()) apply(graph.body(at.first, at.second), inner);
  if (changes.nodes.empty()) return;
  std::map<ir::NodeId, std::string> names;
  for (auto& [node, name] : names_of_nodes(graph)) names.emplace(node, std::move(name));
  CastInserter casts(graph, std::move(names));
  std::vector<ir::NodeId> retyped;
  for (ir::NodeId n : graph.nodes())
    if (changes.nodes.contains(n)) retyped.push_back(n);
  for (ir::NodeId n : retyped) casts.retype(n, changes.nodes.at(n));
  casts.finish();
}

/// partition() without require_full: nodes that are not accelerated yet may become so by Casts.
Result<Partition> partition_without_require_full(const ir::Graph& graph, const Roles& roles, Constraints constraints,
                                                 std::span<const FailedSegment> failed_segments) {
  constraints.require_full = false;
  return partition(graph, roles, constraints, failed_segments);
}

}  // namespace

Result<Partition> partition_with_casts(std::unique_ptr<ir::Graph>& graph, const Roles& roles, const Constraints& constraints,
                                       std::span<const FailedSegment> failed_segments, std::unique_ptr<ir::Graph>* original) {
  RetypedNodes search(roles, constraints, failed_segments);
  Changes changes;
  TRY(search.add_pinned(*graph, changes));
  std::unique_ptr<ir::Graph> before;
  if (!changes.empty()) {
    before = graph->clone();
    apply(*graph, changes);
  }
  Partition partition = TRY(partition_without_require_full(*graph, roles, constraints, failed_segments));
  TRY(search.add_refused(*graph, partition, changes));
  if (!before && !changes.empty()) before = graph->clone();
  while (!changes.empty()) {
    graph = before->clone();
    apply(*graph, changes);
    partition = TRY(partition_without_require_full(*graph, roles, constraints, failed_segments));
    bool any = false;
    TRY(search.drop_unused(*before, partition, changes, any));
    if (!any) break;
    if (changes.empty()) {
      graph = std::move(before);
      partition = TRY(partition_without_require_full(*graph, roles, constraints, failed_segments));
    }
  }
  if (original) *original = std::move(before);
  return constraints.require_full ? partition::partition(*graph, roles, constraints, failed_segments)
                                  : Result<Partition>(std::move(partition));
}

}  // namespace tenon::partition
