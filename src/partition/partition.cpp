// SPDX-License-Identifier: Apache-2.0
#include "partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "partition/by_cost.h"
#include "partition/memory.h"
#include "partition/names.h"
#include "partition/profitable.h"
#include "partition/targets.h"
#include "partition/units.h"

namespace tenon::partition {

namespace {

class Partitioner {
 public:
  using Path = decltype(FailedSegment::body_path);

  Partitioner(const ir::Graph& graph, const Roles& roles, const Constraints& constraints, std::span<const FailedSegment> failed_segments,
              Path path = {})
      : graph_(graph),
        roles_(roles),
        constraints_(constraints),
        failed_segments_(failed_segments),
        path_(std::move(path)),
        dependencies_(graph) {
    std::ranges::copy_if(failed_segments, std::back_inserter(failed_segments_here_),
                         [&](const FailedSegment& failed) { return failed.body_path == path_; });
  }

  Result<Partition> run() {
    TRY(choose());
    TRY(cut());
    set_segments();
    find_borders();
    TRY(partition_bodies());
    return std::move(out_);
  }

 private:
  /// Sets out_.nodes: the backend that each node would best run on.
  Result<void> choose() {
    const Targets targets(graph_, dependencies_, roles_, failed_segments_here_);
    const std::vector<AtomicGroup> groups = roles_.fallback() > 0 ? atomic_groups(graph_) : std::vector<AtomicGroup>();
    std::unordered_set<uint32_t> grouped_nodes;
    for (const AtomicGroup& group : groups) grouped_nodes.insert(group.nodes.begin(), group.nodes.end());
    const bool all_choices = constraints_.assign == Assign::cost || !constraints_.memory.empty();
    for (auto& [n, name] : names_of_nodes(graph_)) {
      Target target = TRY(targets.of(n, all_choices || grouped_nodes.contains(static_cast<uint32_t>(out_.nodes.size()))));
      out_.nodes.push_back({.node = n,
                            .name = std::move(name),
                            .backend = target.backend,
                            .preferred_backend = target.backend,
                            .fallback_target = target.fallback_target,
                            .is_fixed = target.pinned,
                            .does_work = does_work(graph_, n),
                            .first_backend_supports = std::ranges::find(target.choices, 0) != target.choices.end(),
                            .reasons = std::move(target.reasons),
                            .choices = std::move(target.choices),
                            .bodies = {}});
    }
    number_units(dependencies_, TRY(place_groups(graph_, groups, out_.nodes, roles_)), out_.nodes);
    return {};
  }

  /// Sets cut_, and moves nodes to the fallback where their segments are too small or do not pay.
  Result<void> cut() {
    const Units units(out_.nodes);
    std::optional<Costs> costs;
    if (constraints_.assign == Assign::cost)
      out_.predicted.emplace().lower_bound_ns =
          assign_by_cost(costs.emplace(costs_of(graph_, units, out_.nodes, roles_)), units, out_.nodes, roles_);
    TRY(enforce_memory_limits(graph_, units, out_.nodes, roles_, constraints_));
    mark_size_table_nodes(dependencies_, out_.nodes, roles_);
    Problem problem = problem_of(graph_, dependencies_, units, out_.nodes, roles_);
    CutSolution solution = TRY(solve_cut(problem, roles_, constraints_, costs ? &*costs : nullptr, SearchBudget::extended));
    const auto move_to_fallback = [&](const std::vector<uint32_t>& moved, const Reason& reason) {
      for (uint32_t unit : moved)
        for (uint32_t n : units.nodes(unit)) {
          out_.nodes[n].backend = problem.nodes[unit].target;
          out_.nodes[n].reasons.push_back(reason);
        }
    };
    move_to_fallback(solution.sized.dropped,
                     {"too_small", fmt::format("its segment has fewer than {} nodes that do work", constraints_.min_block_size)});
    move_to_fallback(solution.unprofitable_units,
                     {"does_not_pay", "its segment takes less time on the fallback, its start and its borders counted"});
    out_.lower_bound = solution.lower_bound;
    out_.stopped_after_visits = solution.stopped_after_visits;
    cut_ = std::move(solution.sized.cut);
    if (costs) out_.predicted->ns = predicted_ns(*costs, problem, cut_);
    return {};
  }

  /// Splits segments of backends with one_node_a_segment() into one per node, in the order of the nodes.
  void split_single_node_segments() {
    Cut split(cut_.segment_of.size());
    std::vector<uint32_t> next(cut_.size());  // by segment: the new segment of its next node
    std::vector<uint32_t> node_counts(cut_.size());
    for (uint32_t segment : cut_.segment_of) ++node_counts[segment];
    for (uint32_t s = 0; s < cut_.size(); ++s) {
      const bool is_split = roles_.backends[cut_.targets[s]]->one_node_a_segment();
      next[s] = split.size();
      split.targets.insert(split.targets.end(), is_split ? node_counts[s] : 1, cut_.targets[s]);
    }
    for (uint32_t unit = 0; unit < cut_.segment_of.size(); ++unit) {
      const uint32_t s = cut_.segment_of[unit];
      split.segment_of[unit] = roles_.backends[cut_.targets[s]]->one_node_a_segment() ? next[s]++ : next[s];
    }
    cut_ = std::move(split);
  }

  /// Sets the segments of out_ and of its nodes, from cut_.
  void set_segments() {
    if (std::ranges::any_of(roles_.backends, &backend::Backend::one_node_a_segment)) split_single_node_segments();
    std::vector<std::vector<ir::NodeId>> nodes(cut_.size());
    for (uint32_t n = 0; n < out_.nodes.size(); ++n) {
      out_.nodes[n].segment = cut_.segment_of[out_.nodes[n].unit];
      nodes[out_.nodes[n].segment].push_back(out_.nodes[n].node);
    }
    for (uint32_t s = 0; s < cut_.size(); ++s)
      out_.segments.push_back(
          ir::segment_of(graph_, dependencies_, std::string(roles_.backends[cut_.targets[s]]->name()), std::move(nodes[s])));
    out_.backends = cut_.targets;
  }

  /// Sets out_.borders.
  void find_borders() {
    std::unordered_map<ir::ValueId, uint32_t> producers;
    producers.reserve(out_.nodes.size());
    for (uint32_t s = 0; s < out_.segments.size(); ++s)
      for (ir::ValueId v : out_.segments[s].results) producers.emplace(v, s);
    for (uint32_t s = 0; s < out_.segments.size(); ++s)
      for (ir::ValueId v : out_.segments[s].operands)
        if (const auto producer = producers.find(v); producer != producers.end()) out_.borders.push_back({v, producer->second, s});
  }

  /// Partitions the bodies of nodes that the host runs.
  Result<void> partition_bodies() {
    for (NodePlacement& placement : out_.nodes) {
      if (!roles_.backends[placement.backend]->is_host()) continue;
      const auto& bodies = graph_.node(placement.node).bodies;
      for (size_t b = 0; b < bodies.size(); ++b) {
        Path inner = path_;
        inner.emplace_back(placement.node, b);
        placement.bodies.push_back(TRY(Partitioner(*bodies[b].graph, roles_, constraints_, failed_segments_, std::move(inner)).run()));
      }
    }
    return {};
  }

  const ir::Graph& graph_;
  const Roles& roles_;
  const Constraints& constraints_;
  std::span<const FailedSegment> failed_segments_;
  Path path_;  ///< of the bodies that lead to this graph
  std::vector<FailedSegment> failed_segments_here_;
  ir::Dependencies dependencies_;
  Cut cut_;
  Partition out_;
};

/// Counts the nodes that do work and are not accelerated, by op.
void count_not_accelerated(const ir::Graph& graph, const Partition& partition, const Roles& roles, std::map<std::string, size_t>& out) {
  for (const NodePlacement& n : partition.nodes) {
    const ir::Node& node = graph.node(n.node);
    for (size_t b = 0; b < n.bodies.size(); ++b) count_not_accelerated(*node.bodies[b].graph, n.bodies[b], roles, out);
    if (n.does_work && n.bodies.empty() && !roles.is_accelerated(n.backend)) ++out[node.op->name];
  }
}

/// Refuses a partition in which a node that does work is not accelerated.
Result<void> check_full(const ir::Graph& graph, const Partition& partition, const Roles& roles) {
  std::map<std::string, size_t> counts;
  count_not_accelerated(graph, partition, roles, counts);
  if (counts.empty()) return {};
  std::string found;
  for (const auto& [op, count] : counts) found += fmt::format("{}{} ({}x)", found.empty() ? "" : ", ", op, count);
  return fail(Code::not_supported, "require-full", "not all of the model is accelerated")
      .expected("every node that does work on an accelerated backend")
      .found(found)
      .advice("`tenon partition MODEL --dry-run` says why; leave require-full out to let the fallback run them");
}

}  // namespace

double Partition::accelerated_share(const Roles& roles) const {
  size_t all = 0, accelerated = 0;
  for (const NodePlacement& n : nodes) {
    all += n.does_work;
    accelerated += n.does_work && roles.is_accelerated(n.backend);
  }
  return all > 0 ? static_cast<double>(accelerated) / static_cast<double>(all) : 1;
}

std::vector<ir::Segment> Partition::device_segments(const Roles& roles) const {
  std::vector<ir::Segment> out;
  for (size_t s = 0; s < segments.size(); ++s)
    if (!roles.backends[backends[s]]->is_host()) out.push_back(segments[s]);
  return out;
}

Result<Partition> partition(const ir::Graph& graph, const Roles& roles, const Constraints& constraints,
                            std::span<const FailedSegment> failed_segments) {
  Partition out = TRY(Partitioner(graph, roles, constraints, failed_segments).run());
  if (constraints.require_full) TRY(check_full(graph, out, roles));
  return out;
}

}  // namespace tenon::partition
