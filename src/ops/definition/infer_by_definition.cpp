// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"

#include <algorithm>

#include "ops/infer/types.h"

namespace tenon::ops {

namespace {

/// The operands of `view` as inputs of `graph`, constants as such.
std::vector<ir::ValueId> stand_ins(ir::Graph& graph, const NodeView& view) {
  std::vector<ir::ValueId> out;
  for (size_t k = 0; k < view.explicit_inputs; ++k) {
    const ir::Operand& operand = view.inputs[k];
    if (!operand.present) {
      out.push_back({});
    } else if (operand.constant) {
      out.push_back(graph.add_constant(ir::constant_of(*operand.constant)));
    } else {
      out.push_back(graph.add_input("in" + std::to_string(k), operand.type));
      if (operand.data) graph.set_data(out.back(), *operand.data);
    }
  }
  return out;
}

/// Sizes that only the graph built aside knows must not outlive it.
bool stays_aside(const ir::Graph& graph, const Type& type) {
  auto is_aside = [&](Dim d) {
    bool aside = false;
    if (!d.is_number()) each_symbol(d, [&](const DimNode& s) { aside |= s.symbols == &graph.symbols(); });
    return aside;
  };
  return type.has_rank() && std::ranges::any_of(*type.shape, is_aside);
}

/// What the plain ops assume is what the fused one does.
void pass_assumptions_on(const ir::Graph& graph, const NodeView& view) {
  if (!view.assumptions) return;
  for (const ir::Assumption& a : graph.assumptions.all()) {
    if (stays_aside(graph, Type(DType::none, {a.a, a.b}))) continue;
    view.assumptions->add(a.kind, a.a, a.b, [&](ir::Assumption& made) {
      made.where = view.where();
      made.what = a.what;
    });
  }
}

}  // namespace

Result<void> infer_by_definition(NodeView& view) {
  const OpDef& def = def_of(*view.op);
  TENON_ASSERT(def.definition != nullptr);
  for (size_t k = 0; k < view.outputs.size(); ++k) set_output(view, k, Type(dtype_of(view, 0)));
  for (size_t k = 0; k < view.explicit_inputs; ++k)
    if (view.has(k) && view.type(k).dtype == DType::none) return {};
  ir::Graph graph(*view.ops);
  ir::Builder build(graph);
  const std::vector<ir::ValueId> results = def.definition(build, view, stand_ins(graph, view));
  if (!build.status()) return std::unexpected(build.status().error());
  for (size_t k = 0; k < std::min(results.size(), view.outputs.size()); ++k)
    if (results[k] && !stays_aside(graph, graph.value(results[k]).type)) set_output(view, k, graph.value(results[k]).type);
  pass_assumptions_on(graph, view);
  return {};
}

}  // namespace tenon::ops
