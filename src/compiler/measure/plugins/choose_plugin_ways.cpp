// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/plugins/choose_plugin_ways.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/measure/engine_timer.h"
#include "compiler/measure/faster.h"
#include "compiler/measure/measured_backend.h"
#include "compiler/measure/plugin_text.h"
#include "compiler/measure/plugins/check_candidates.h"
#include "compiler/measure/single_node_graph.h"
#include "ops/plugin/plugin_op.h"

namespace tenon::compiler {

namespace {

constexpr int kNodeRuns = 5;  ///< runs over the engines of a node; the minimum time of each is used

std::string name_of(const plugin::Op& op) { return op.name_space + "::" + op.name; }

/// Nodes with equal ops, attributes and types; the first one is measured.
struct NodeClass {
  ir::Graph* graph;
  std::vector<std::pair<ir::Graph*, ir::NodeId>> nodes;
  const plugin::Op* op;
};

class WayChooser {
 public:
  WayChooser(PartitionedGraph& partitioned, const CompileOptions& options, const backends::Plugin& plugin)
      : partitioned_(partitioned), plugin_(plugin), options_(quiet(options)), timer_(options_, partitioned.backends.all) {}

  Result<void> run() {
    collect(*partitioned_.graph);
    for (auto& [key, node_class] : classes_) TRY(choose(key, node_class));
    const auto place = std::ranges::find(partitioned_.backends.all, static_cast<const backend::Backend*>(&plugin_));
    partitioned_.backends.owned.push_back(plugin_.with(std::move(choices_)));
    *place = partitioned_.backends.owned.back().get();
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
      classes_.try_emplace(backends::key_of(graph, n), NodeClass{&graph, {}, op}).first->second.nodes.emplace_back(&graph, n);
    }
  }

  /// Why the op cannot be measured; empty: it can.
  static std::string why_not_measured(const plugin::Op& op) {
    if (op.table.is_random) return "not measured: equal operands may give other results";
    if (op.in_process) return "not measured: a function of this process";
    if (op.table.has_effects) return "not measured: its runs have effects";
    return {};
  }

  Result<void> choose(const std::string& key, const NodeClass& node_class) {
    const auto [graph, node] = node_class.nodes[0];
    if (node_class.op->in_process && !node_class.op->table.kernel_of)
      return fail(Code::not_supported, "measure",
                  fmt::format("not supported yet: measuring {}, a function of this process", name_of(*node_class.op)))
          .expected("ops of Tenon, or of libraries in files: engines are timed in processes of their own, which have no others")
          .found(node_class.op->place())
          .advice("leave measuring out: costs are guessed then");
    plugin::MeasuredNode out;
    out.plugin = name_of(*node_class.op);
    out.node = graph->view(node).where();
    out.call = key.substr(0, key.find("; "));
    out.nodes = node_class.nodes.size();
    out.note = why_not_measured(*node_class.op);
    if (out.note.empty()) TRY(measure(key, node_class, out));
    partitioned_.measured.push_back(std::move(out));
    return {};
  }

  Result<void> measure(const std::string& key, const NodeClass& node_class, plugin::MeasuredNode& out) {
    const auto [graph, node] = node_class.nodes[0];
    auto alone = TRY(single_node_graph(*graph, node, default_sizes(*partitioned_.graph)));
    if (!alone) {
      out.note = "not measured: sizes of its operands follow from data";
      return {};
    }
    const std::shared_ptr<const ir::Graph> kept = std::move(alone->graph);
    auto found = candidates_of(*graph, node, kept, plugin_, partitioned_.backends.all, options_);
    if (!found && found.error().code() == Code::not_supported) {
      out.note = "not measured: " + found.error()->what;
      return {};
    }
    const Candidates candidates = TRY(std::move(found));
    out.note = candidates.left_out;
    TRY(time(candidates.all, *kept, *node_class.op, out));
    std::vector<std::optional<double>> times;
    for (const plugin::MeasuredNode::Candidate& c : out.candidates) times.push_back(c.ns);
    out.chosen = index_of_fastest(times);
    apply(key, node_class, candidates.all[out.chosen], out);
    return {};
  }

  /// Times the candidates that are not rejected. Candidates in the timing cache were checked when they were timed first.
  Result<void> time(const std::vector<Candidate>& all, const ir::Graph& alone, const plugin::Op& op, plugin::MeasuredNode& out) {
    std::vector<EngineTimer::Item> items;
    for (const Candidate& c : all)
      items.push_back({fmt::format("node {}\n{} {}\n{}\n{}", op.key(), op.sha256, TENON_PLUGIN_VERSION,
                                   backends::key_of(alone, *alone.nodes().begin()), c.name),
                       c.build});
    std::vector<std::string> rejections(all.size());
    if (!std::ranges::all_of(items, [&](const EngineTimer::Item& item) { return timer_.has_time_of(item); }))
      rejections = TRY(rejections_of(all, alone, options_));
    std::vector<EngineTimer::Item> accepted;
    for (size_t k = 0; k < all.size(); ++k)
      if (rejections[k].empty()) accepted.push_back(items[k]);
    const auto times = TRY(timer_.time(accepted, kNodeRuns));
    for (size_t k = 0, next = 0; k < all.size(); ++k) {
      out.candidates.push_back({all[k].name, {}, rejections[k]});
      if (!rejections[k].empty()) continue;
      out.candidates.back().ns = times[next++];
      if (!out.candidates.back().ns) out.candidates.back().dropped = "it does not run while it is timed";
    }
    return {};
  }

  void apply(const std::string& key, const NodeClass& node_class, const Candidate& chosen, const plugin::MeasuredNode& found) {
    const bool is_own = ops::plugin_of(*node_class.graph->node(node_class.nodes[0].second).op) != nullptr;
    const std::string why = fmt::format("measured: {}", found.text());
    if (chosen.variant || is_own) choices_[key] = {chosen.variant, why};
    if (!chosen.variant || is_own) return;
    // For an op of Tenon other backends come before the plugin backend, so the nodes are placed on it explicitly.
    const auto placement = std::make_shared<const ir::Placement>(ir::Placement{std::string(plugin_.name()), "measured", why});
    for (const auto& [graph, node] : node_class.nodes) {
      if (graph->node(node).placement()) continue;
      ir::Provenance provenance = graph->node(node).provenance ? *graph->node(node).provenance : ir::Provenance();
      provenance.placement = placement;
      graph->set_provenance(node, std::make_shared<const ir::Provenance>(std::move(provenance)));
    }
  }

  PartitionedGraph& partitioned_;
  const backends::Plugin& plugin_;
  const CompileOptions options_;
  EngineTimer timer_;
  std::map<std::string, NodeClass> classes_;
  backends::PluginChoices choices_;
};

}  // namespace

Result<void> choose_plugin_ways(PartitionedGraph& partitioned, const CompileOptions& options) {
  const backends::Plugin* const plugin = plugin_backend_in(partitioned.backends.all);
  if (!plugin) return {};
  return WayChooser(partitioned, options, *plugin).run();
}

}  // namespace tenon::compiler
