// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/choose.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/build_partitioned.h"
#include "compiler/measure/faster.h"
#include "compiler/measure/measured_backend.h"
#include "compiler/measure/node_times.h"
#include "compiler/measure/plugin_text.h"
#include "compiler/measure/timer.h"
#include "ir/text.h"

namespace tenon::compiler {

namespace {

constexpr int kPasses = 5;           ///< over whole engines: the least time counts
constexpr int kDuel = 9;             ///< passes between the best plan over several backends and that of one
constexpr double kOutOfReach = 1e6;  ///< makes other backends too dear for whatever one of them can run

class Chooser {
 public:
  Chooser(PartitionedGraph& shared, const CompileOptions& options)
      : shared_(shared),
        options_(quiet(options)),
        timer_(options_, shared.backends.all),
        graph_text_(ir::print(*shared.graph) + text_of_plugins(*shared.graph, shared.backends.all)) {}

  Result<void> run() {
    known_ = TRY(node_times(shared_, options_, timer_));
    TRY(time_singles());
    const partition::Partition mixed = TRY(shares_by(known_));
    const auto best = std::ranges::min_element(singles_, {}, &Plan::ns);
    if (best == singles_.end() || best->ns == kNone) return keep(mixed);
    if (std::ranges::any_of(singles_, [&](const Plan& p) { return text_of(p.partition) == text_of(mixed); })) return keep(best->partition);
    const auto times = TRY(timer_.time({{item(best->partition, "beside others"), item(mixed, "beside others")}}, kDuel));
    return keep(times[0] && is_faster(times[1], times[0]) ? mixed : best->partition);
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  struct Plan {
    partition::Partition partition;
    double ns = kNone;
  };

  static CompileOptions quiet(CompileOptions options) {
    options.progress = nullptr;
    options.dump_plan = nullptr;
    options.portable = false;
    return options;
  }

  Result<partition::Partition> shares_by(std::span<const KnownCosts> known) const {
    const BackendsInUse backends = at_costs(shared_.backends, known);
    return partition::partition(*shared_.graph, backends.roles(), options_.constraints);
  }

  static std::string text_of(const partition::Partition& partition) {
    std::string out;
    for (const partition::NodePlacement& n : partition.nodes) {
      out += fmt::format("{}.{} ", n.backend, n.segment);
      for (const partition::Partition& body : n.bodies) out += "(" + text_of(body) + ")";
    }
    return out;
  }

  Timer::Item item(const partition::Partition& partition, std::string_view note) const {
    return {fmt::format("{}\n{}\n{}\n{}", graph_text_, names_of_backends(), text_of(partition), note),
            [this, &partition]() -> Result<Compiled> {
              PartitionedGraph one;
              one.graph = shared_.graph->clone();
              one.backends = shared_.backends;
              one.partition = partition;
              StepClock clock(options_);
              return build_partitioned(std::move(one), options_, clock);
            }};
  }

  std::string names_of_backends() const {
    std::string out;
    for (const backend::Backend* b : shared_.backends.all) out += fmt::format("{} ", b->name());
    return out;
  }

  /// Each listed backend runs all that it can. Then costs are brought to the scale of its whole: nodes alone are not fused.
  Result<void> time_singles() {
    std::vector<Timer::Item> items;
    for (uint16_t b = 0; b < shared_.backends.listed; ++b) {
      std::vector<KnownCosts> favoured = known_;
      for (uint16_t other = 0; other < favoured.size(); ++other)
        if (other != b) favoured[other].factor = kOutOfReach;
      singles_.push_back({TRY(shares_by(favoured)), kNone});
      singles_.back().partition.predicted.reset();  // by costs that are none
    }
    for (const Plan& plan : singles_) items.push_back(item(plan.partition, ""));
    const auto times = TRY(timer_.time(items, kPasses));
    for (uint16_t b = 0; b < singles_.size(); ++b) {
      if (!times[b]) continue;
      singles_[b].ns = *times[b];
      known_[b].factor = *times[b] / std::max(1.0, sum_of(singles_[b].partition));
    }
    return {};
  }

  double sum_of(const partition::Partition& partition) const {
    const BackendsInUse backends = at_costs(shared_.backends, known_);
    double ns = 0;
    for (const partition::NodePlacement& n : partition.nodes) ns += backends.all[n.backend]->cost(*shared_.graph, n.node);
    return ns;
  }

  Result<void> keep(const partition::Partition& partition) {
    BackendsInUse backends = at_costs(shared_.backends, known_);
    shared_.partition = partition;
    if (shared_.without_casts && !needs_casts(*shared_.graph, partition)) TRY(leave_casts_out());
    shared_.backends = std::move(backends);
    return {};
  }

  /// A node runs in other types on the backend for which it has them.
  bool needs_casts(const ir::Graph& graph, const partition::Partition& partition) const {
    return std::ranges::any_of(partition.nodes, [&](const partition::NodePlacement& n) {
      const ir::Retyping* const retyping = graph.node(n.node).retyping();
      if (retyping && !retyping->is_border() && retyping->backend == shared_.backends.all[n.backend]->name()) return true;
      for (size_t b = 0; b < n.bodies.size(); ++b)
        if (needs_casts(*graph.node(n.node).bodies[b].graph, n.bodies[b])) return true;
      return false;
    });
  }

  /// The graph is as it was, on the backends of the plan.
  Result<void> leave_casts_out() {
    std::vector<KnownCosts> known = known_;
    for (uint16_t b = 0; b < known.size(); ++b)
      if (std::ranges::find(shared_.partition.backends, b) == shared_.partition.backends.end()) known[b].factor = kOutOfReach;
    const BackendsInUse backends = at_costs(shared_.backends, known);
    shared_.partition = TRY(partition::partition(*shared_.without_casts, backends.roles(), options_.constraints));
    shared_.graph = std::move(shared_.without_casts);
    return {};
  }

  PartitionedGraph& shared_;
  const CompileOptions options_;
  Timer timer_;
  std::string graph_text_;
  std::vector<KnownCosts> known_;  ///< one a backend
  std::vector<Plan> singles_;
};

}  // namespace

Result<void> partition_by_measuring(PartitionedGraph& shared, const CompileOptions& options) { return Chooser(shared, options).run(); }

}  // namespace tenon::compiler
