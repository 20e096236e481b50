// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/node_times.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/work.h"
#include "compiler/measure/build_on.h"
#include "compiler/measure/node_alone.h"
#include "compiler/measure/plugin_text.h"
#include "ir/text.h"

namespace tenon::compiler {

namespace {

constexpr std::string_view kTiny = "graph main(x: f32[16]) { y = Relu(x) return y }";
constexpr double kFails = 1e15;  ///< nanoseconds of a node that a backend accepts and does not run
constexpr double kLeast = 0.05;  ///< of what was measured: that much is work, however long a start takes

/// What is copied for a graph of which a backend with a memory of its own runs all: a part of its time that borders are charged with.
double copies_ns(const ir::Graph& graph, const backend::Overheads& costs) {
  if (!costs.own_memory) return 0;
  double ns = 0;
  for (const auto& values : {graph.inputs(), graph.outputs()})
    for (ir::ValueId v : values) ns += costs.copy + costs.copy_per_byte * backend::bytes_of(graph.value(v).type);
  return ns;
}

/// A node on a backend, alone.
struct TimedNode {
  size_t node = 0;  ///< index in the shares
  uint16_t backend = 0;
  double copies = 0;  ///< nanoseconds of what was timed
};

}  // namespace

Result<std::vector<double>> launch_times(const backend::Backends& backends, const ir::OpTable& ops, const CompileOptions& options,
                                         Timer& timer) {
  std::vector<Timer::Item> items;
  for (size_t b = 0; b < backends.size(); ++b)
    items.push_back({fmt::format("launch of {}", backends[b]->name()),
                     [&, b]() -> Result<Compiled> { return build_on(TRY(ir::parse(kTiny, ops)), backends, b, options); }});
  std::vector<double> out;
  for (const auto& ns : TRY(timer.time(items))) {
    const double copies = copies_ns(*TRY(ir::parse(kTiny, ops)), backends[out.size()]->overheads());
    out.push_back(std::max(0.0, ns.value_or(0) - copies));
  }
  return out;
}

Result<std::vector<KnownCosts>> node_times(const PartitionedGraph& shared, const CompileOptions& options, Timer& timer) {
  const backend::Backends& backends = shared.backends.all;
  const ir::Graph& graph = *shared.graph;
  const std::vector<double> launches = TRY(launch_times(backends, graph.ops(), options, timer));
  const SizesOfSymbols sizes = usual_sizes(graph);
  std::vector<Timer::Item> items;
  std::vector<TimedNode> timed;
  for (size_t n = 0; n < shared.partition.nodes.size(); ++n) {
    const partition::NodePlacement& placement = shared.partition.nodes[n];
    if (!placement.works || placement.choices.size() < 2) continue;
    auto alone = TRY(node_alone(graph, placement.node, sizes));
    if (!alone) continue;
    const std::shared_ptr<const ir::Graph> kept = std::move(alone->graph);
    const std::string plugins = text_of_plugins(*kept, backends);
    for (uint16_t b : placement.choices) {
      items.push_back({fmt::format("{}: {}{}", backends[b]->name(), alone->signature, plugins),
                       [&backends, &options, kept, b] { return build_on(kept->clone(), backends, b, options); }});
      timed.push_back({n, b, copies_ns(*kept, backends[b]->overheads())});
    }
  }
  const auto times = TRY(timer.time(items));
  std::vector<KnownCosts> out(backends.size());
  std::vector<double> guessed(backends.size()), measured(backends.size());
  for (size_t k = 0; k < timed.size(); ++k) {
    const auto [n, b, copies] = timed[k];
    const ir::NodeId node = shared.partition.nodes[n].node;
    const double work = std::max(1.0, times[k].value_or(0) - copies);
    const double ns = times[k] ? std::max(kLeast * work, work - launches[b]) : kFails;
    out[b].ns.emplace(node, ns);
    if (!times[k]) continue;
    measured[b] += ns;
    guessed[b] += backends[b]->cost(graph, node);
  }
  const double least = *std::ranges::min_element(launches);
  for (size_t b = 0; b < out.size(); ++b) {
    out[b].graph = &graph;
    if (guessed[b] > 0) out[b].scale = measured[b] / guessed[b];
    out[b].overheads = backends[b]->overheads();
    out[b].overheads->launch = launches[b] - least;
    out[b].overheads->source = backend::Overheads::Source::measured;
  }
  return out;
}

}  // namespace tenon::compiler
