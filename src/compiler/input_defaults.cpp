// SPDX-License-Identifier: Apache-2.0
#include "compiler/input_defaults.h"

#include <algorithm>

namespace tenon::compiler {

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

Result<void> settle_input_defaults(Source& source, bool freeze) {
  if (freeze) source.overridable = nullptr;
  else if (!source.overridable && has_defaults(source.graph.get()))
    source.overridable = (source.unbounded ? source.unbounded : source.graph)->clone();
  TRY(freeze_all(source.graph));
  TRY(freeze_all(source.unbounded));
  if (!source.overridable) return {};
  TRY(make_constants(*source.overridable, [](const ir::Value& v) { return v.type.dtype == DType::string; }));
  if (!has_defaults(source.overridable.get())) source.overridable = nullptr;
  return {};
}

}  // namespace tenon::compiler
