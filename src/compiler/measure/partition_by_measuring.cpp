// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/partition_by_measuring.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/build_partitioned.h"
#include "compiler/measure/engine_timer.h"
#include "compiler/measure/faster.h"
#include "compiler/measure/measure_node_costs.h"
#include "compiler/measure/measured_backend.h"
#include "compiler/measure/plugin_text.h"
#include "ir/text.h"

namespace tenon::compiler {

namespace {

constexpr int kEngineRuns = 5;              ///< runs over whole engines; the minimum time of each is used
constexpr int kFinalPasses = 9;             ///< passes that compare the best plan of one backend with the plan over several backends
constexpr double kProhibitiveFactor = 1e6;  ///< multiplies the costs of backends that a plan shall avoid

class PlanChooser {
 public:
  PlanChooser(PartitionedGraph& partitioned, const CompileOptions& options)
      : partitioned_(partitioned),
        options_(quiet(options)),
        timer_(options_, partitioned.backends.all),
        graph_text_(ir::print(*partitioned.graph) + text_of_plugins(*partitioned.graph, partitioned.backends.all)) {}

  Result<void> run() {
    known_ = TRY(measure_node_costs(partitioned_, options_, timer_));
    TRY(time_single_backend_plans());
    const partition::Partition mixed = TRY(partition_with(known_));
    const auto best = std::ranges::min_element(single_backend_plans_, {}, &Plan::ns);
    if (best == single_backend_plans_.end() || best->ns == kNotTimed) return choose(mixed);
    if (std::ranges::any_of(single_backend_plans_, [&](const Plan& p) { return text_of(p.partition) == text_of(mixed); }))
      return choose(best->partition);
    const auto times = TRY(timer_.time({{item(best->partition, "beside others"), item(mixed, "beside others")}}, kFinalPasses));
    return choose(times[0] && is_faster(times[1], times[0]) ? mixed : best->partition);
  }

 private:
  static constexpr double kNotTimed = std::numeric_limits<double>::infinity();
  struct Plan {
    partition::Partition partition;
    double ns = kNotTimed;
  };

  static CompileOptions quiet(CompileOptions options) {
    options.progress = nullptr;
    options.dump_plan = nullptr;
    options.portable = false;
    return options;
  }

  Result<partition::Partition> partition_with(std::span<const KnownCosts> known) const {
    const BackendsInUse backends = with_known_costs(partitioned_.backends, known);
    return partition::partition(*partitioned_.graph, backends.roles(), options_.constraints);
  }

  static std::string text_of(const partition::Partition& partition) {
    std::string out;
    for (const partition::NodePlacement& n : partition.nodes) {
      out += fmt::format("{}.{} ", n.backend, n.segment);
      for (const partition::Partition& body : n.bodies) out += "(" + text_of(body) + ")";
    }
    return out;
  }

  EngineTimer::Item item(const partition::Partition& partition, std::string_view note) const {
    return {fmt::format("{}\n{}\n{}\n{}", graph_text_, names_of_backends(), text_of(partition), note),
            [this, &partition]() -> Result<Compiled> {
              PartitionedGraph one;
              one.graph = partitioned_.graph->clone();
              one.backends = partitioned_.backends;
              one.partition = partition;
              StepClock clock(options_);
              return build_partitioned(std::move(one), options_, clock);
            }};
  }

  std::string names_of_backends() const {
    std::string out;
    for (const backend::Backend* b : partitioned_.backends.all) out += fmt::format("{} ", b->name());
    return out;
  }

  /// Times one plan per listed backend, in which it runs all nodes that it supports. Then scales the costs of its nodes so that their sum
  /// is the time of that plan: nodes that are timed alone are not fused.
  Result<void> time_single_backend_plans() {
    std::vector<EngineTimer::Item> items;
    for (uint16_t b = 0; b < partitioned_.backends.listed; ++b) {
      std::vector<KnownCosts> biased = known_;
      for (uint16_t other = 0; other < biased.size(); ++other)
        if (other != b) biased[other].node_factor = kProhibitiveFactor;
      single_backend_plans_.push_back({TRY(partition_with(biased)), kNotTimed});
      single_backend_plans_.back().partition.predicted.reset();  // it was predicted with biased costs
    }
    for (const Plan& plan : single_backend_plans_) items.push_back(item(plan.partition, ""));
    const auto times = TRY(timer_.time(items, kEngineRuns));
    for (uint16_t b = 0; b < single_backend_plans_.size(); ++b) {
      if (!times[b]) continue;
      single_backend_plans_[b].ns = *times[b];
      known_[b].node_factor = *times[b] / std::max(1.0, sum_of_node_costs(single_backend_plans_[b].partition));
    }
    return {};
  }

  double sum_of_node_costs(const partition::Partition& partition) const {
    const BackendsInUse backends = with_known_costs(partitioned_.backends, known_);
    double ns = 0;
    for (const partition::NodePlacement& n : partition.nodes) ns += backends.all[n.backend]->cost(*partitioned_.graph, n.node);
    return ns;
  }

  Result<void> choose(const partition::Partition& partition) {
    BackendsInUse backends = with_known_costs(partitioned_.backends, known_);
    partitioned_.partition = partition;
    if (partitioned_.without_casts && !needs_casts(*partitioned_.graph, partition)) TRY(use_graph_without_casts());
    partitioned_.backends = std::move(backends);
    return {};
  }

  /// Whether a node of other element types than the source's is placed on the backend that needs these types.
  bool needs_casts(const ir::Graph& graph, const partition::Partition& partition) const {
    return std::ranges::any_of(partition.nodes, [&](const partition::NodePlacement& n) {
      const ir::Retyping* const retyping = graph.node(n.node).retyping();
      if (retyping && !retyping->is_inserted_cast() && retyping->backend == partitioned_.backends.all[n.backend]->name()) return true;
      for (size_t b = 0; b < n.bodies.size(); ++b)
        if (needs_casts(*graph.node(n.node).bodies[b].graph, n.bodies[b])) return true;
      return false;
    });
  }

  /// Replaces the graph by the one without casts, partitioned over the backends of the chosen plan.
  Result<void> use_graph_without_casts() {
    std::vector<KnownCosts> known = known_;
    for (uint16_t b = 0; b < known.size(); ++b)
      if (std::ranges::find(partitioned_.partition.backends, b) == partitioned_.partition.backends.end())
        known[b].node_factor = kProhibitiveFactor;
    const BackendsInUse backends = with_known_costs(partitioned_.backends, known);
    partitioned_.partition = TRY(partition::partition(*partitioned_.without_casts, backends.roles(), options_.constraints));
    partitioned_.graph = std::move(partitioned_.without_casts);
    return {};
  }

  PartitionedGraph& partitioned_;
  const CompileOptions options_;
  EngineTimer timer_;
  std::string graph_text_;
  std::vector<KnownCosts> known_;  ///< one per backend
  std::vector<Plan> single_backend_plans_;
};

}  // namespace

Result<void> partition_by_measuring(PartitionedGraph& partitioned, const CompileOptions& options) {
  return PlanChooser(partitioned, options).run();
}

}  // namespace tenon::compiler
