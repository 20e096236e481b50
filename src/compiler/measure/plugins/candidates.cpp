// SPDX-License-Identifier: Apache-2.0
#include "compiler/measure/plugins/candidates.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/build_partitioned.h"
#include "compiler/without_plugins.h"
#include "ops/plugin/plugin_op.h"

namespace tenon::compiler {

namespace {

constexpr size_t kMaxFormats = 4, kMaxWays = 64;

using Graph = std::shared_ptr<const ir::Graph>;

Result<Compiled> build_alone(const ir::Graph& alone, const backend::Backends& backends, const CompileOptions& options) {
  PartitionedGraph one;
  one.graph = alone.clone();
  one.backends.all = backends;
  one.backends.listed = static_cast<uint16_t>(backends.size());
  TRY(partition::prepare(*one.graph, backends));
  one.partition = TRY(partition::partition(*one.graph, one.backends.roles(), {}));
  StepClock clock(options);
  return build_partitioned(std::move(one), options, clock);
}

Candidate plugin_candidate(const Graph& alone, const backends::Plugin& plugin, backends::PluginVariant way,
                           const backend::Backends& backends, const CompileOptions& options) {
  const ir::NodeId node = *alone->nodes().begin();
  const std::shared_ptr<const backends::Plugin> with = plugin.with({{backends::key_of(*alone, node), {way, {}}}});
  backend::Backends all = without_plugins(backends);
  all.insert(all.begin(), with.get());
  const size_t operands = alone->view(node).explicit_inputs;
  return {way.text(operands), way, [alone, with, all, &options] { return build_alone(*alone, all, options); }};
}

/// Whether a backend other than the plugins' and the reference backend, which is the last one, supports the node.
Result<bool> has_other_backend(const ir::Graph& graph, ir::NodeId node, const backend::Backends& backends) {
  const backend::Backends others = without_plugins(backends);
  for (size_t k = 0; k + 1 < others.size(); ++k) {
    const auto supported = others[k]->supports(graph, node);
    if (supported) return true;
    if (supported.error().code() != Code::not_supported) return std::unexpected(supported.error());
  }
  return false;
}

}  // namespace

Result<Candidates> candidates_of(const ir::Graph& graph, ir::NodeId node, Graph alone, const backends::Plugin& plugin,
                                 const backend::Backends& backends, const CompileOptions& options) {
  const ir::NodeView view = graph.view(node);
  const plugin::Op& op = *plugin.op_for(view);
  Candidates out;
  const auto ways = TRY(plugin.variants(view, op, kMaxFormats));
  if (ways.size() > kMaxWays) out.left_out = fmt::format("{} of {} ways were tried", kMaxWays, ways.size());
  for (size_t k = 0; k < std::min(ways.size(), kMaxWays); ++k)
    out.all.push_back(plugin_candidate(alone, plugin, ways[k], backends, options));
  const bool is_own = ops::plugin_of(*view.op) != nullptr, has_definition = static_cast<bool>(ops::def_of(*view.op).definition);
  if (plugin.is_chosen_by_user(op) || (!has_definition && (is_own || !TRY(has_other_backend(graph, node, backends))))) return out;
  const backend::Backends others = without_plugins(backends);
  Candidate own{"Tenon's own code", {}, [alone, others, &options] { return build_alone(*alone, others, options); }};
  out.all.insert(is_own ? out.all.end() : out.all.begin(), std::move(own));
  return out;
}

}  // namespace tenon::compiler
