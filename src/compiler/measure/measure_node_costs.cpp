// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/measure_node_costs.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/work.h"
#include "compiler/measure/build_on_backend.h"
#include "compiler/measure/plugin_text.h"
#include "compiler/measure/single_node_graph.h"
#include "ir/text.h"

namespace tenon::compiler {

namespace {

constexpr std::string_view kTinyGraphText = "graph main(x: f32[16]) { y = Relu(x) return y }";
constexpr double kFailedNodeNs = 1e15;  ///< cost of a node that a backend supports but fails to run
constexpr double kMinWorkShare = 0.05;  ///< of a measured time: at least this part is work of the node, however long a launch takes

/// Nanoseconds of the copies of inputs and outputs where a backend with a memory of its own runs the whole graph. The partitioner adds them
/// at segment boundaries, so they are no cost of the node.
double copies_ns(const ir::Graph& graph, const backend::Overheads& costs) {
  if (!costs.own_memory) return 0;
  double ns = 0;
  for (const auto& values : {graph.inputs(), graph.outputs()})
    for (ir::ValueId v : values) ns += costs.copy_ns + costs.copy_ns_per_byte * backend::bytes_of(graph.value(v).type);
  return ns;
}

/// The measurement of one node on one backend.
struct TimedNode {
  size_t node = 0;  ///< index in Partition::nodes
  uint16_t backend = 0;
  double copies_ns = 0;  ///< the part of the measured time that is copies
};

}  // namespace

Result<std::vector<double>> measure_launch_ns(const backend::Backends& backends, const ir::OpTable& ops, const CompileOptions& options,
                                              EngineTimer& timer) {
  std::vector<EngineTimer::Item> items;
  for (size_t b = 0; b < backends.size(); ++b)
    items.push_back({fmt::format("launch of {}", backends[b]->name()),
                     [&, b]() -> Result<Compiled> { return build_on_backend(TRY(ir::parse(kTinyGraphText, ops)), backends, b, options); }});
  std::vector<double> out;
  for (const auto& ns : TRY(timer.time(items))) {
    const double copies = copies_ns(*TRY(ir::parse(kTinyGraphText, ops)), backends[out.size()]->overheads());
    out.push_back(std::max(0.0, ns.value_or(0) - copies));
  }
  return out;
}

Result<std::vector<KnownCosts>> measure_node_costs(const PartitionedGraph& partitioned, const CompileOptions& options, EngineTimer& timer) {
  const backend::Backends& backends = partitioned.backends.all;
  const ir::Graph& graph = *partitioned.graph;
  const std::vector<double> launches = TRY(measure_launch_ns(backends, graph.ops(), options, timer));
  const SymbolSizes sizes = default_sizes(graph);
  std::vector<EngineTimer::Item> items;
  std::vector<TimedNode> timed;
  for (size_t n = 0; n < partitioned.partition.nodes.size(); ++n) {
    const partition::NodePlacement& placement = partitioned.partition.nodes[n];
    if (!placement.does_work || placement.choices.size() < 2) continue;
    auto alone = TRY(single_node_graph(graph, placement.node, sizes));
    if (!alone) continue;
    const std::shared_ptr<const ir::Graph> kept = std::move(alone->graph);
    const std::string plugins = text_of_plugins(*kept, backends);
    for (uint16_t b : placement.choices) {
      items.push_back({fmt::format("{}: {}{}", backends[b]->name(), alone->signature, plugins),
                       [&backends, &options, kept, b] { return build_on_backend(kept->clone(), backends, b, options); }});
      timed.push_back({n, b, copies_ns(*kept, backends[b]->overheads())});
    }
  }
  const auto times = TRY(timer.time(items));
  std::vector<KnownCosts> out(backends.size());
  std::vector<double> guessed(backends.size()), measured(backends.size());
  for (size_t k = 0; k < timed.size(); ++k) {
    const auto [n, b, copies] = timed[k];
    const ir::NodeId node = partitioned.partition.nodes[n].node;
    const double work = std::max(1.0, times[k].value_or(0) - copies);
    const double ns = times[k] ? std::max(kMinWorkShare * work, work - launches[b]) : kFailedNodeNs;
    out[b].node_ns.emplace(node, ns);
    if (!times[k]) continue;
    measured[b] += ns;
    guessed[b] += backends[b]->cost(graph, node);
  }
  const double least = *std::ranges::min_element(launches);
  for (size_t b = 0; b < out.size(); ++b) {
    out[b].graph = &graph;
    if (guessed[b] > 0) out[b].guess_scale = measured[b] / guessed[b];
    out[b].overheads = backends[b]->overheads();
    out[b].overheads->launch_ns = launches[b] - least;
    out[b].overheads->source = backend::Overheads::Source::measured;
  }
  return out;
}

}  // namespace tenon::compiler
