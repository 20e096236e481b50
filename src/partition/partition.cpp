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
  using Path = decltype(HandedBack::inside);

  Partitioner(const ir::Graph& graph, const Roles& roles, const Constraints& constraints, std::span<const HandedBack> handed_back,
              Path path = {})
      : graph_(graph), roles_(roles), constraints_(constraints), handed_back_(handed_back), path_(std::move(path)), dependencies_(graph) {
    std::ranges::copy_if(handed_back, std::back_inserter(handed_back_here_), [&](const HandedBack& h) { return h.inside == path_; });
  }

  Result<Partition> run() {
    TRY(choose());
    TRY(cut());
    number();
    find_borders();
    TRY(bodies());
    return std::move(out_);
  }

 private:
  Result<void> choose() {
    const Targets targets(graph_, dependencies_, roles_, handed_back_here_);
    const std::vector<AtomicGroup> groups = roles_.fallback() > 0 ? atomic_groups(graph_) : std::vector<AtomicGroup>();
    std::unordered_set<uint32_t> together;
    for (const AtomicGroup& k : groups) together.insert(k.nodes.begin(), k.nodes.end());
    const bool all_choices = constraints_.assign == Assign::cost || !constraints_.memory.empty();
    for (auto& [n, name] : names_of_nodes(graph_)) {
      Target target = TRY(targets.of(n, all_choices || together.contains(static_cast<uint32_t>(out_.nodes.size()))));
      out_.nodes.push_back({.node = n,
                            .name = std::move(name),
                            .backend = target.backend,
                            .wanted = target.backend,
                            .falls_to = target.falls_to,
                            .stays = target.pinned,
                            .works = does_work(graph_, n),
                            .first_may = std::ranges::find(target.choices, 0) != target.choices.end(),
                            .reasons = std::move(target.reasons),
                            .choices = std::move(target.choices),
                            .bodies = {}});
    }
    number_units(dependencies_, TRY(place_groups(graph_, groups, out_.nodes, roles_)), out_.nodes);
    return {};
  }

  Result<void> cut() {
    const Units units(out_.nodes);
    std::optional<Costs> costs;
    if (constraints_.assign == Assign::cost)
      out_.predicted.emplace().least =
          assign_by_cost(costs.emplace(costs_of(graph_, units, out_.nodes, roles_)), units, out_.nodes, roles_);
    TRY(keep_memory(graph_, units, out_.nodes, roles_, constraints_));
    find_sized(dependencies_, out_.nodes, roles_);
    Problem problem = problem_of(graph_, dependencies_, units, out_.nodes, roles_);
    CutSolution solution = TRY(solve_cut(problem, roles_, constraints_, costs ? &*costs : nullptr, SearchBudget::extended));
    const auto give_up = [&](const std::vector<uint32_t>& lost, const Reason& reason) {
      for (uint32_t unit : lost)
        for (uint32_t n : units.nodes(unit)) {
          out_.nodes[n].backend = problem.nodes[unit].target;
          out_.nodes[n].reasons.push_back(reason);
        }
    };
    give_up(solution.sized.dropped,
            {"too_small", fmt::format("its segment has fewer than {} nodes that do work", constraints_.min_block_size)});
    give_up(solution.unpaid, {"does_not_pay", "its segment takes less time on the fallback, its start and its borders counted"});
    out_.lower_bound = solution.lower_bound;
    out_.given_up_after = solution.given_up_after;
    cut_ = std::move(solution.sized.cut);
    if (costs) out_.predicted->ns = predicted_ns(*costs, problem, cut_);
    return {};
  }

  /// Segments of backends that take one node each fall apart, in the order of their nodes.
  void part_single_nodes() {
    Cut parted(cut_.place.size());
    std::vector<uint32_t> first(cut_.size());
    std::vector<uint32_t> left(cut_.size());
    for (uint32_t place : cut_.place) ++left[place];
    for (uint32_t s = 0; s < cut_.size(); ++s) {
      const bool parts = roles_.backends[cut_.targets[s]]->one_node_a_segment();
      first[s] = parted.size();
      parted.targets.insert(parted.targets.end(), parts ? left[s] : 1, cut_.targets[s]);
    }
    for (uint32_t unit = 0; unit < cut_.place.size(); ++unit) {
      const uint32_t s = cut_.place[unit];
      parted.place[unit] = roles_.backends[cut_.targets[s]]->one_node_a_segment() ? first[s]++ : first[s];
    }
    cut_ = std::move(parted);
  }

  void number() {
    if (std::ranges::any_of(roles_.backends, &backend::Backend::one_node_a_segment)) part_single_nodes();
    std::vector<std::vector<ir::NodeId>> nodes(cut_.size());
    for (uint32_t n = 0; n < out_.nodes.size(); ++n) {
      out_.nodes[n].segment = cut_.place[out_.nodes[n].unit];
      nodes[out_.nodes[n].segment].push_back(out_.nodes[n].node);
    }
    for (uint32_t s = 0; s < cut_.size(); ++s)
      out_.segments.push_back(
          ir::segment_of(graph_, dependencies_, std::string(roles_.backends[cut_.targets[s]]->name()), std::move(nodes[s])));
    out_.backends = cut_.targets;
  }

  void find_borders() {
    std::unordered_map<ir::ValueId, uint32_t> makers;
    makers.reserve(out_.nodes.size());
    for (uint32_t s = 0; s < out_.segments.size(); ++s)
      for (ir::ValueId v : out_.segments[s].results) makers.emplace(v, s);
    for (uint32_t s = 0; s < out_.segments.size(); ++s)
      for (ir::ValueId v : out_.segments[s].operands)
        if (const auto maker = makers.find(v); maker != makers.end()) out_.borders.push_back({v, maker->second, s});
  }

  Result<void> bodies() {
    for (NodePlacement& share : out_.nodes) {
      if (!roles_.backends[share.backend]->is_host()) continue;
      const auto& all = graph_.node(share.node).bodies;
      for (size_t b = 0; b < all.size(); ++b) {
        Path inner = path_;
        inner.emplace_back(share.node, b);
        share.bodies.push_back(TRY(Partitioner(*all[b].graph, roles_, constraints_, handed_back_, std::move(inner)).run()));
      }
    }
    return {};
  }

  const ir::Graph& graph_;
  const Roles& roles_;
  const Constraints& constraints_;
  std::span<const HandedBack> handed_back_;
  Path path_;  ///< to this graph
  std::vector<HandedBack> handed_back_here_;
  ir::Dependencies dependencies_;
  Cut cut_;
  Partition out_;
};

/// Ops that do work and are not accelerated, and how many of each.
void count_others(const ir::Graph& graph, const Partition& partition, const Roles& roles, std::map<std::string, size_t>& out) {
  for (const NodePlacement& n : partition.nodes) {
    const ir::Node& node = graph.node(n.node);
    for (size_t b = 0; b < n.bodies.size(); ++b) count_others(*node.bodies[b].graph, n.bodies[b], roles, out);
    if (n.works && n.bodies.empty() && !roles.is_accelerated(n.backend)) ++out[node.op->name];
  }
}

Result<void> check_full(const ir::Graph& graph, const Partition& partition, const Roles& roles) {
  std::map<std::string, size_t> others;
  count_others(graph, partition, roles, others);
  if (others.empty()) return {};
  std::string found;
  for (const auto& [op, count] : others) found += fmt::format("{}{} ({}x)", found.empty() ? "" : ", ", op, count);
  return fail(Code::not_supported, "require-full", "not all of the model is accelerated")
      .expected("every node that does work on an accelerated backend")
      .found(found)
      .advice("`tenon partition MODEL --dry-run` says why; leave require-full out to let the fallback run them");
}

}  // namespace

double Partition::accelerated_share(const Roles& roles) const {
  size_t all = 0, accelerated = 0;
  for (const NodePlacement& n : nodes) {
    all += n.works;
    accelerated += n.works && roles.is_accelerated(n.backend);
  }
  return all > 0 ? static_cast<double>(accelerated) / static_cast<double>(all) : 1;
}

std::vector<ir::Segment> Partition::of_devices(const Roles& roles) const {
  std::vector<ir::Segment> out;
  for (size_t s = 0; s < segments.size(); ++s)
    if (!roles.backends[backends[s]]->is_host()) out.push_back(segments[s]);
  return out;
}

Result<Partition> partition(const ir::Graph& graph, const Roles& roles, const Constraints& constraints,
                            std::span<const HandedBack> handed_back) {
  Partition out = TRY(Partitioner(graph, roles, constraints, handed_back).run());
  if (constraints.require_full) TRY(check_full(graph, out, roles));
  return out;
}

}  // namespace tenon::partition
