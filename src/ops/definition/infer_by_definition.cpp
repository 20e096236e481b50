// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"

#include <algorithm>

#include "ir/carry.h"
#include "ops/infer/shape_data.h"
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

/// The node in a graph of its own: with symbols of that graph, one for each of its own by name, so that sizes made aside may be reckoned
/// with them.
class Aside {
 public:
  Aside(const NodeView& view, ir::Graph& graph) : view_(view), graph_(graph), data_(view.inputs.size()) {
    const ir::DimCarrier carry(&graph.symbols());
    for (size_t k = 0; k < view_.inputs.size(); ++k) {
      ir::Operand& operand = view_.inputs[k];
      operand.type = carry(std::move(operand.type));
      if (!operand.data) continue;
      for (Dim d : *operand.data) data_[k].push_back(carry(d));
      operand.data = &data_[k];
    }
    view_.symbols = &graph.symbols();
    view_.assumptions = &graph.assumptions;
    carried_ = graph.symbols().all().size();
  }
  Aside(const Aside&) = delete;

  const NodeView& view() const { return view_; }

  /// Contains a size of the temporary graph alone: it must not outlive that.
  bool stays(const Type& type) const {
    const auto& all = graph_.symbols().all();
    if (!type.has_rank() || all.size() == carried_) return false;
    const uint32_t first = all[carried_].node()->id;
    return std::ranges::any_of(*type.shape, [first](Dim d) {
      bool made = false;
      if (!d.is_number()) each_symbol(d, [&](const DimNode& s) { made |= s.id >= first; });
      return made;
    });
  }

 private:
  NodeView view_;
  const ir::Graph& graph_;
  std::vector<ShapeData> data_;  ///< what the operands of the view point at
  size_t carried_ = 0;           ///< symbols that are the node's own
};

/// Sizes of the temporary graph alone become new ones.
Type without_inner_sizes(Type type, const Aside& aside, const ir::DimCarrier& back, Symbols& symbols) {
  if (!aside.stays(type)) return back(std::move(type));
  for (Dim& size : *type.shape) size = aside.stays(Type(DType::none, {size})) ? symbols.fresh() : back(size);
  return type;
}

/// What the plain ops assume is what the fused one does.
void pass_assumptions_on(const ir::Graph& graph, const Aside& aside, const ir::DimCarrier& back, const NodeView& view) {
  if (!view.assumptions) return;
  for (const ir::Assumption& a : graph.assumptions.all()) {
    if (aside.stays(Type(DType::none, {a.a, a.b}))) continue;
    view.assumptions->add(a.kind, back(a.a), back(a.b), [&](ir::Assumption& made) {
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
  const Aside aside(view, graph);
  const ir::DimCarrier back(view.symbols);
  ir::Builder build(graph);
  const std::vector<ir::ValueId> results = def.definition(build, aside.view(), stand_ins(graph, aside.view()));
  if (!build.status()) return std::unexpected(build.status().error());
  for (size_t k = 0; k < std::min(results.size(), view.outputs.size()); ++k)
    if (results[k]) set_output(view, k, without_inner_sizes(graph.value(results[k]).type, aside, back, *view.symbols));
  pass_assumptions_on(graph, aside, back, view);
  return {};
}

}  // namespace tenon::ops
