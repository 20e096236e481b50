// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/plugins/choose_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/measure/faster.h"
#include "compiler/measure/measured_backend.h"
#include "compiler/measure/node_alone.h"
#include "compiler/measure/plugin_text.h"
#include "compiler/measure/plugins/checked.h"
#include "compiler/measure/timer.h"
#include "ops/plugin/plugin_op.h"

namespace tenon::compiler {

namespace {

constexpr int kTurns = 5;  ///< over engines of a node: the least time counts

std::string name_of(const plugin::Op& op) { return op.name_space + "::" + op.name; }

/// Nodes that are alike.
struct Kind {
  ir::Graph* graph;
  std::vector<std::pair<ir::Graph*, ir::NodeId>> nodes;
  const plugin::Op* op;
};

class Ways {
 public:
  Ways(PartitionedGraph& shared, const CompileOptions& options, const backends::Plugin& plugin)
      : shared_(shared), plugin_(plugin), options_(quiet(options)), timer_(options_, shared.backends.all) {}

  Result<void> run() {
    collect(*shared_.graph);
    for (auto& [key, kind] : kinds_) TRY(settle(key, kind));
    const auto place = std::ranges::find(shared_.backends.all, static_cast<const backend::Backend*>(&plugin_));
    shared_.backends.kept.push_back(plugin_.with(std::move(choices_)));
    *place = shared_.backends.kept.back().get();
    return {};
  }

 private:
  static CompileOptions quiet(CompileOptions options) {
    options.progress = nullptr;
    options.dump_plan = nullptr;
    options.portable = false;
    return options;
  }

  void collect(ir::Graph& graph) {
    for (ir::NodeId n : graph.nodes()) {
      for (size_t b = 0; b < graph.node(n).bodies.size(); ++b) collect(graph.body(n, b));
      const plugin::Op* const op = plugin_.op_for(graph.view(n));
      const ir::Placement* const placement = graph.node(n).placement();
      if (!op || (placement && placement->backend != plugin_.name())) continue;
      kinds_.try_emplace(backends::key_of(graph, n), Kind{&graph, {}, op}).first->second.nodes.emplace_back(&graph, n);
    }
  }

  /// Why times would mean nothing; empty: they do.
  static std::string reason_against(const plugin::Op& op) {
    if (op.table.is_random) return "not measured: equal operands may give other results";
    if (op.in_process) return "not measured: a function of this process";
    if (op.table.has_effects) return "not measured: its runs have effects";
    return {};
  }

  Result<void> settle(const std::string& key, const Kind& kind) {
    const auto [graph, node] = kind.nodes[0];
    if (kind.op->in_process && !kind.op->table.kernel_of)
      return fail(Code::not_supported, "measure",
                  fmt::format("not supported yet: measuring {}, a function of this process", name_of(*kind.op)))
          .expected("ops of Tenon, or of libraries in files: engines are timed in processes of their own, which have no others")
          .found(kind.op->place())
          .advice("leave measuring out: costs are guessed then");
    plugin::MeasuredNode out;
    out.plugin = name_of(*kind.op);
    out.node = graph->view(node).where();
    out.call = key.substr(0, key.find("; "));
    out.nodes = kind.nodes.size();
    out.note = reason_against(*kind.op);
    if (out.note.empty()) TRY(measure(key, kind, out));
    shared_.measured.push_back(std::move(out));
    return {};
  }

  Result<void> measure(const std::string& key, const Kind& kind, plugin::MeasuredNode& out) {
    const auto [graph, node] = kind.nodes[0];
    auto alone = TRY(node_alone(*graph, node, usual_sizes(*shared_.graph)));
    if (!alone) {
      out.note = "not measured: sizes of its operands follow from data";
      return {};
    }
    const std::shared_ptr<const ir::Graph> kept = std::move(alone->graph);
    auto found = candidates_of(*graph, node, kept, plugin_, shared_.backends.all, options_);
    if (!found && found.error().code() == Code::not_supported) {
      out.note = "not measured: " + found.error()->what;
      return {};
    }
    const Candidates candidates = TRY(std::move(found));
    out.note = candidates.left_out;
    TRY(time(candidates.all, *kept, *kind.op, out));
    std::vector<std::optional<double>> times;
    for (const plugin::MeasuredNode::Candidate& c : out.candidates) times.push_back(c.ns);
    out.chosen = fastest(times);
    apply(key, kind, candidates.all[out.chosen], out);
    return {};
  }

  /// Those that are right. What was timed before was right then.
  Result<void> time(const std::vector<Candidate>& all, const ir::Graph& alone, const plugin::Op& op, plugin::MeasuredNode& out) {
    std::vector<Timer::Item> items;
    for (const Candidate& c : all)
      items.push_back({fmt::format("node {}\n{} {}\n{}\n{}", op.key(), op.sha256, TENON_PLUGIN_VERSION,
                                   backends::key_of(alone, *alone.nodes().begin()), c.name),
                       c.build});
    std::vector<std::string> faults(all.size());
    if (!std::ranges::all_of(items, [&](const Timer::Item& item) { return timer_.has_time_of(item); }))
      faults = TRY(faults_of(all, alone, options_));
    std::vector<Timer::Item> right;
    for (size_t k = 0; k < all.size(); ++k)
      if (faults[k].empty()) right.push_back(items[k]);
    const auto times = TRY(timer_.time(right, kTurns));
    for (size_t k = 0, next = 0; k < all.size(); ++k) {
      out.candidates.push_back({all[k].name, {}, faults[k]});
      if (!faults[k].empty()) continue;
      out.candidates.back().ns = times[next++];
      if (!out.candidates.back().ns) out.candidates.back().dropped = "it does not run while it is timed";
    }
    return {};
  }

  void apply(const std::string& key, const Kind& kind, const Candidate& chosen, const plugin::MeasuredNode& found) {
    const bool is_own = ops::plugin_of(*kind.graph->node(kind.nodes[0].second).op) != nullptr;
    const std::string why = fmt::format("measured: {}", found.text());
    if (chosen.way || is_own) choices_[key] = {chosen.way, why};
    if (!chosen.way || is_own) return;
    // A kernel of an op that Tenon has: the plugin's backend is not the first that takes it.
    const auto placement = std::make_shared<const ir::Placement>(ir::Placement{std::string(plugin_.name()), "measured", why});
    for (const auto& [graph, node] : kind.nodes) {
      if (graph->node(node).placement()) continue;
      ir::Provenance provenance = graph->node(node).provenance ? *graph->node(node).provenance : ir::Provenance();
      provenance.placement = placement;
      graph->set_provenance(node, std::make_shared<const ir::Provenance>(std::move(provenance)));
    }
  }

  PartitionedGraph& shared_;
  const backends::Plugin& plugin_;
  const CompileOptions options_;
  Timer timer_;
  std::map<std::string, Kind> kinds_;
  backends::PluginChoices choices_;
};

}  // namespace

Result<void> choose_plugin_ways(PartitionedGraph& shared, const CompileOptions& options) {
  const backends::Plugin* const plugin = plugin_among(shared.backends.all);
  if (!plugin) return {};
  return Ways(shared, options, *plugin).run();
}

}  // namespace tenon::compiler
