// SPDX-License-Identifier: Apache-2.0
#include "compiler/input_defaults.h"

#include <algorithm>

namespace tenon::compiler {

using runtime::Condition;

namespace {

bool has_defaults(const ir::Graph* graph) { return graph && graph->required_inputs() < graph->inputs().size(); }

/// Makes constants of the inputs with defaults that `is_chosen`.
template <class IsChosen>
Result<void> make_constants(ir::Graph& graph, IsChosen is_chosen) {
  const std::vector<ir::ValueId> inputs(graph.inputs().begin(), graph.inputs().end());
  for (const ir::ValueId input : inputs) {
    if (!graph.value(input).has_default() || !is_chosen(graph.value(input))) continue;
    const std::string name = graph.value(input).name;
    const ir::ValueId constant = graph.add_constant(graph.value(input).constant);
    TENON_ASSERT(graph.replace_all_uses(input, constant));
    graph.erase_value(input);
    graph.set_name(constant, name);
  }
  return ir::infer_all(graph);
}

Result<void> freeze_all(std::unique_ptr<ir::Graph>& graph) {
  if (!has_defaults(graph.get())) return {};
  return make_constants(*graph, [](const ir::Value&) { return true; });
}

}  // namespace

Result<void> resolve_input_defaults(Source& source, bool freeze) {
  std::vector<FallbackGraph>& fallbacks = source.fallbacks;
  std::unique_ptr<ir::Graph> overridable;
  if (const auto given = std::ranges::find(fallbacks, Condition::default_overridden, &FallbackGraph::condition); given != fallbacks.end()) {
    overridable = std::move(given->graph);
    fallbacks.erase(given);
  }
  if (freeze) overridable = nullptr;
  else if (!overridable && has_defaults(source.graph.get())) {
    const ir::Graph* const unbounded = graph_for(fallbacks, Condition::size_out_of_range);
    overridable = (unbounded ? unbounded : source.graph.get())->clone();
  }
  TRY(freeze_all(source.graph));
  for (FallbackGraph& f : fallbacks) TRY(freeze_all(f.graph));
  if (!overridable) return {};
  TRY(make_constants(*overridable, [](const ir::Value& v) { return v.type.dtype == DType::string; }));
  if (has_defaults(overridable.get())) fallbacks.push_back({Condition::default_overridden, std::move(overridable)});
  return {};
}

}  // namespace tenon::compiler
